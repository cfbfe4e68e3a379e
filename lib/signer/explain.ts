/**
 * Shows every step of the algorithm for one request, to find out why a signature is refused. It needs no secret and
 * shows none: two implementations can compare all steps up to the signed text without it.
 */

import { hashBody, parameterString, percentEncode, signingPairs, stringToSign } from './canonical.ts';
import { refuseLoneSurrogate, type SignInput, toPlainRequest } from './request.ts';

export interface ExplainInput extends SignInput {
  readonly appKey: string;
  /** The x-signature-nonce that was sent. */
  readonly nonce: string;
  /** The x-timestamp that was sent. */
  readonly timestamp: string;
  /** Another implementation's str3 or encoded string, to find where it differs. */
  readonly compareWith?: string;
}

export interface Difference {
  /** Index of the first character that differs. */
  readonly at: number;
  readonly ours: string;
  readonly theirs: string;
}

export interface Explanation {
  readonly url: string;
  readonly path: string;
  /** Query parameters and signing headers (steps 1 and 3), in the order of str1. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly str1: string;
  /** '' for an empty body, which has no hash. */
  readonly str2: string;
  readonly str3: string;
  readonly encodedString: string;
  /** Present when `compareWith` was given and differs. */
  readonly difference?: Difference;
  /** The steps as lines for a person. */
  toString(): string;
}

/**
 * Computes the steps for one request, and finds where another implementation's text differs from them.
 *
 * @throws SignError as `sign` would
 * @example
 * const explanation = await explain({ url, query, appKey, nonce, timestamp, compareWith: otherString });
 * console.log(`${explanation}`);
 * console.log(explanation.difference?.at);
 */
export async function explain(input: ExplainInput): Promise<Explanation> {
  const { url, host, path, query, body } = toPlainRequest(input);
  refuseLoneSurrogate(`${input.appKey} ${input.nonce} ${input.timestamp}`);
  const headers = { appKey: input.appKey, host, nonce: input.nonce, timestamp: input.timestamp };
  const str1 = parameterString(query, headers);
  const str2 = (await hashBody(body)).toUpperCase();
  const str3 = stringToSign(path, str1, str2);
  const encodedString = percentEncode(str3);
  const parameters = [...query, ...signingPairs(headers)].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const difference = firstDifference(str3, encodedString, input.compareWith);
  return {
    url,
    path,
    parameters,
    str1,
    str2,
    str3,
    encodedString,
    ...(difference && { difference }),
    toString: () =>
      [
        `url            ${url}`,
        `path           ${path}`,
        ...parameters.map(([name, value]) => `parameter      ${name}=${value}`),
        `str1           ${str1}`,
        `str2           ${str2 || '(no body, no hash)'}`,
        `str3           ${str3}`,
        `encoded string ${encodedString}`,
        'signing key    <app secret>&',
        'signature      base64(HMAC-SHA256(signing key, encoded string))',
        ...(difference
          ? [
              `differs at character ${difference.at}`,
              `  ours         ${difference.ours}`,
              `  theirs       ${difference.theirs}`,
            ]
          : []),
      ].join('\n'),
  };
}

function firstDifference(str3: string, encoded: string, theirs: string | undefined): Difference | undefined {
  if (theirs === undefined) return undefined;
  // Only str3 begins with a slash: an encoded string has none.
  const ours = theirs.startsWith('/') ? str3 : encoded;
  if (ours === theirs) return undefined;
  let at = 0;
  while (ours[at] === theirs[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 20), at + 40);
  return { at, ours: around(ours), theirs: around(theirs) };
}
