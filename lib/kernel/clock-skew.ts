/** Tolerance for comparing a time that one machine wrote with the clock of another. */

/** Largest difference between two machines' clocks, in milliseconds. */
export const clockSkewMs = 60_000;
