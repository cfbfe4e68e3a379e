/**
 * Keeps pages of other sites away from a server that a browser can reach. A page can send requests to an address that
 * only this machine reaches, and can point its own host name to that address (DNS rebinding).
 */

type RequestHeaders = Readonly<Record<string, string | undefined>>;

/**
 * Checks the header Host of a request: the fault in words, or undefined. An IP address is never refused, because a
 * rebinding page reaches the server by a name.
 *
 * @param names names of the server besides `localhost`, with or without a port
 */
export function createHostCheck(names: readonly string[]): (host: string | undefined) => string | undefined {
  const own = new Set(['localhost', ...names.map(nameOf)]);
  return (host = '') =>
    own.has(nameOf(host)) || isAddress.test(nameOf(host))
      ? undefined
      : 'The header Host names another server than this one.';
}

/**
 * Tells why a request may come from a page of another site; undefined when it cannot. Programs send neither Origin nor
 * Sec-Fetch-Site, and pass; no page can write these two headers.
 *
 * @param hosts names of the server, whose pages may call it; a name with a port allows only the pages on that port
 */
export function createSiteCheck(hosts: readonly string[]): (headers: RequestHeaders) => string | undefined {
  const hostFault = createHostCheck(hosts);
  const trusted = new Set(hosts.map((one) => one.toLowerCase()));
  const isTrusted = (origin: string) => {
    const at = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1]?.toLowerCase();
    return at !== undefined && (trusted.has(at) || trusted.has(nameOf(at)));
  };
  return ({ host = '', origin, 'sec-fetch-site': site }) => {
    const isSameOrigin =
      site === undefined
        ? origin === undefined || /^https?:\/\/(.*)$/i.exec(origin)?.[1] === host.toLowerCase()
        : site === 'same-origin' || site === 'none';
    if (!isSameOrigin && !(origin !== undefined && isTrusted(origin)))
      return 'A page of another site may not call this server.';
    return hostFault(host);
  };
}

const isAddress = /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/;

const nameOf = (host: string) => host.toLowerCase().replace(/:\d+$/, '');
