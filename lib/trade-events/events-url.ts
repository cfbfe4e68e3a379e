/** Which URLs of an event stream are taken. */

import { isPrivate } from '../signer/request.ts';

/** What is wrong with the URL of an event stream, if anything is. */
export function eventsUrlFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) return 'is no URL';
  if (url.pathname !== '/' || url.search || url.hash || url.username || url.password)
    return 'has more than a host and a port';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol !== 'http:') return 'is neither https nor http';
  return isPrivate(url) ? undefined : 'is http, and not on a loopback address';
}
