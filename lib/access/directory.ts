/** Port: who may do what. The gateway asks it for each request that belongs to an account. */

import type { Scope } from '../catalogue/scopes.ts';
import type { Principal } from './evidence.ts';

export interface Directory {
  /**
   * What a principal may do now. A revocation is seen at most 60 s after it was made.
   *
   * Rejects when the directory cannot tell, and nothing younger than 60 s is known.
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
  /** The id of an API key that comes with the token. Blocked, it stops the token; what it stands for does not matter. */
  readonly besideKey?: string;
}

export type Standing =
  /** No operator has granted the principal anything. A token's claims may grant it accounts all the same. */
  | { readonly kind: 'unknown'; readonly user: string }
  /** The user, the token or the app was blocked or revoked, or the API key beside the token, which `isKey` says. */
  | { readonly kind: 'revoked'; readonly user: string; readonly isKey?: true }
  | {
      readonly kind: 'granted';
      /** A keyed hash of who this is: for a key that is bound to a user, of that user. */
      readonly user: string;
      readonly grants: Grants;
    };

export interface Grants {
  /** By account id, in clear; `*` stands for every account of the app key. */
  readonly accounts: ReadonlyMap<string, ReadonlySet<Scope>>;
  /** For what belongs to the upstream's user and to no account, such as watchlists. */
  readonly userData: ReadonlySet<Scope>;
}

/** Gives people and accounts names for logs, limiter and stores that reveal nothing without the key. */
export interface KeyedNames {
  /** 128 bits of an HMAC-SHA-256, as base64url. */
  nameOf(
    kind: 'user' | 'app' | 'account' | 'token' | 'credential' | 'order' | 'event' | 'entry' | 'asked',
    ...texts: readonly string[]
  ): Promise<string>;
}
