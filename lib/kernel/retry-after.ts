/**
 * Reads the header `Retry-After` (RFC 9110, 10.2.3): seconds, or a date. A fraction, which some servers send, counts as it is.
 *
 * @param now in milliseconds since the epoch
 * @returns seconds from now, at least 0; undefined without the header, or when it has neither form
 *
 * @example retryAfterOf('1.5', Date.now()); // 1.5
 * @example retryAfterOf('Fri, 31 Dec 1999 23:59:59 GMT', Date.parse('1999-12-31T23:59:29Z')); // 30
 */
export function retryAfterOf(header: string | null | undefined, now: number): number | undefined {
  const text = header ?? '';
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text);
  const at = /^[A-Z][a-z]+, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now) / 1000);
}
