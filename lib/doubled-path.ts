/** A base URL that ends with what paths begin with: every request would have that part twice, and find nothing. */

/**
 * Works on text, because React Native's URL does not give its parts.
 *
 * @param paths that are appended to the base URL
 * @returns the fault in words, with what to write instead; undefined without one
 *
 * @example
 * doubledPathFault('https://api.example.com/openapi', ['/openapi/assets/balance']);
 * // 'it ends with /openapi, with which paths begin: write https://api.example.com'
 */
export function doubledPathFault(baseUrl: string | undefined, paths: readonly string[]): string | undefined {
  // The first part at API Gateway's own hosts is a stage, which may have any name.
  const [, host, prefix = ''] =
    /^(.*?:\/\/(?:[^/]*\.execute-api\.[^/]*\/)?[^/]*)(.*?)\/*$/.exec(baseUrl ?? '') ?? [];
  for (let at = 0; at < prefix.length; at++) {
    const end = prefix.slice(at);
    if (end[0] === '/' && paths.some((path) => `${path}/`.startsWith(`${end}/`)))
      return `it ends with ${end}, with which paths begin: write ${host}${prefix.slice(0, at)}`;
  }
  return undefined;
}
