/** How far the clocks of two machines may be apart, where what one wrote is compared with the time of the other. */

/** In milliseconds. */
export const clockSkewMs = 60_000;
