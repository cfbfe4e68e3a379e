/** Port: rights of each principal. The gateway asks for them with each request that belongs to an account. */

import type { Scope } from '../catalogue/scopes.ts';
import type { Principal } from './evidence.ts';

export interface Directory {
  /**
   * Finds a principal's present rights. A revocation takes effect after 60 s at most.
   *
   * Rejects when the directory cannot be read, and no record younger than 60 s is in memory.
   */
  standing(question: StandingQuestion): Promise<Standing>;
}

export interface StandingQuestion {
  readonly principal: Principal;
  /** The parts of a token that can be revoked beside its subject. */
  readonly token?: {
    readonly id?: string;
    readonly clientId?: string;
    /** Unix time in seconds. */
    readonly issuedAt: number;
  };
  /** Id of an API key that comes with the token. A blocked key refuses the token; the key's rights do not count. */
  readonly besideKey?: string;
}

export type Standing =
  /** No operator has granted the principal any rights. A token's claims may still grant it accounts. */
  | { readonly kind: 'unknown'; readonly user: string }
  /** The user, the token or the app was blocked or revoked; with `isKey`, the API key beside the token was. */
  | { readonly kind: 'revoked'; readonly user: string; readonly isKey?: true }
  | {
      readonly kind: 'granted';
      /** Keyed hash of the principal, or of the user to whom the principal is bound. */
      readonly user: string;
      readonly grants: Grants;
    };

export interface Grants {
  /** Scopes by account id, in clear; `*` stands for every account of the app key. */
  readonly accounts: ReadonlyMap<string, ReadonlySet<Scope>>;
  /** Scopes for data of the upstream's user that belongs to no account, such as watchlists. */
  readonly userData: ReadonlySet<Scope>;
}

/** Names people and accounts for logs, limiter and stores. The names reveal nothing without the key. */
export interface KeyedNames {
  /** Computes 128 bits of an HMAC-SHA-256, as base64url. */
  nameOf(
    kind: 'user' | 'app' | 'account' | 'token' | 'credential' | 'order' | 'event' | 'entry' | 'asked',
    ...texts: readonly string[]
  ): Promise<string>;
}
