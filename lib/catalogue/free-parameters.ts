/** Query parameters that no source names: which of them an operation with `anyQuery` takes. */

/** All of them together stay below 8 kB, the longest request line that common servers take. */
export const maxFreeParameters = 20;
export const maxFreeName = 64;
export const maxFreeValue = 256;

/**
 * The signature merges parameters and signing headers into one list of names and values: a request with a parameter
 * of a header's name signs like another one, whose header has the parameter's value. And the account stands in the
 * body: another one beside it could be the one that the upstream takes.
 */
const reserved = /^(account_id|host|x-(app-key|timestamp|version|access-token|signature(-.*)?))$/is;

/** Why the parameter is not taken. */
export function freeParameterFault(name: string, value: string): 'reserved' | 'too-long' | undefined {
  if (reserved.test(name)) return 'reserved';
  return name.length > maxFreeName || value.length > maxFreeValue ? 'too-long' : undefined;
}
