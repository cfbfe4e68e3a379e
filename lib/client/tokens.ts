/** Access token of a user: read before each request, and renewed when a gateway refuses it. */

import { checkToken } from './connection.ts';

/** Argument of a token source. */
export interface TokenRequest {
  /** Whether the gateway refused the last token: the source must return a new one, not its cached one. */
  readonly renew: boolean;
}

/**
 * A text, or a function that is called before each request, and once more when the gateway refuses its token.
 * `undefined` sends the request without a token, as before a user has signed in.
 *
 * @example
 * const token: TokenSource = ({ renew }) => auth.accessToken({ forceRefresh: renew });
 */
export type TokenSource =
  | string
  | ((request: TokenRequest) => string | undefined | Promise<string | undefined>);

interface Tokens {
  /** @throws TypeError for a text that is no token; the source's own errors pass through */
  current(): Promise<string | undefined>;
  /**
   * Gets another token than the refused one; `undefined` when the source has none. Calls that were refused with the same
   * token share one renewal, because an issuer may accept a refresh token only once.
   */
  renewed(refused: string | undefined): Promise<string | undefined>;
}

export function createTokens(source: TokenSource): Tokens {
  let flight: TokenFlight | undefined;

  const ask = async (renew: boolean) => {
    const token = typeof source === 'function' ? await source({ renew }) : source;
    return token === undefined ? token : checkToken(token, 'token');
  };

  const renew = async (refused: string | undefined) => {
    // Another call may have renewed it since this one was sent.
    let token = await ask(false);
    if (token === refused) token = await ask(true);
    return token === refused ? undefined : token;
  };

  return {
    current: () => ask(false),
    renewed(refused) {
      if (flight && flight.refused === refused) return flight.token;
      const mine: TokenFlight = {
        refused,
        token: renew(refused).finally(() => {
          // Later calls ask the source again, because another user may have signed in by then.
          if (flight === mine) flight = undefined;
        }),
      };
      flight = mine;
      return mine.token;
    },
  };
}

interface TokenFlight {
  readonly refused: string | undefined;
  readonly token: Promise<string | undefined>;
}
