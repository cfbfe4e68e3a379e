/** The access token of a user: asked for before each request, and renewed when a gateway refuses it. */

import { checkToken } from './connection.ts';

/** What a source of tokens is asked. */
export interface TokenRequest {
  /** The gateway refused the token that the source gave: a new one is wanted, not the one that is kept. */
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

export interface Tokens {
  /** @throws TypeError for a text that is no token; what the source throws passes through */
  current(): Promise<string | undefined>;
  /**
   * Another token than the refused one; `undefined` when the source has none. Calls that were refused with the same
   * token share one renewal: an issuer may let a refresh token be used once only.
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
          // What comes later asks the source again, whose user may be another by then.
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
