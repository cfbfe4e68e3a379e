/** Times as answers have them. Live, they were seen in a form of its own for each kind of record. */

/** Of bars: ISO 8601 with an offset that RFC 3339 does not know, `2026-11-17T09:30:00.000+0000`. */
export const offsetText = (time: number): string => new Date(time).toISOString().replace('Z', '+0000');

/** Of ticks: milliseconds, but in a string. */
export const millisecondsText = (time: number): string => String(time);
