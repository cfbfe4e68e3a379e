/** Access tokens: created on request, and approved by an owner after a few seconds unless set otherwise. */

import { observed } from './observed.ts';
import { hashOf, hexText, mix } from './random.ts';

type TokenPhase = 'PENDING' | 'NORMAL' | 'INVALID' | 'EXPIRED';

export interface ShownToken {
  readonly token: string;
  readonly status: TokenPhase;
  /** Unix time in milliseconds; absent for an unknown token. */
  readonly expiresAt?: number;
}

const dayMilliseconds = 86_400_000;
const lifeMs = observed.tokenLife.days * dayMilliseconds;
/** Milliseconds in which the owner may approve. */
const maxApprovalMs = observed.tokenApproval.minutes * 60_000;

/** Token that was approved long ago and is renewed each day, so that it can be written into a note. */
const standingToken = '5d0c9be27af14836b1d2e07745c6a98f';

interface Token {
  readonly createdAt: number;
  readonly expiresAt: number;
}

export class TokenBook {
  readonly #noise: number;
  readonly #approvalMs: number;
  readonly #useProlongs: boolean;
  readonly #tokens = new Map<string, Token>();

  constructor(seed: number, approvalMs: number, useProlongs: boolean) {
    this.#noise = hashOf(seed, 'tokens');
    this.#approvalMs = approvalMs;
    this.#useProlongs = useProlongs;
  }

  create(now: number): ShownToken {
    const token = hexText(mix(this.#noise, this.#tokens.size));
    this.#tokens.set(token, { createdAt: now, expiresAt: now + lifeMs });
    return this.check(token, now);
  }

  /** Renews the life of a valid token; undefined for any other. */
  renew(token: string, now: number): ShownToken | undefined {
    const { status } = this.check(token, now);
    if (status !== 'NORMAL' && status !== 'PENDING') return undefined;
    const known = this.#tokens.get(token);
    if (known) this.#tokens.set(token, { ...known, expiresAt: now + lifeMs });
    return this.check(token, now);
  }

  /** Returns true for a token that opens the operations; using it prolongs its life, unless set otherwise. */
  use(token: string | undefined, now: number): boolean {
    if (token === undefined || this.check(token, now).status !== 'NORMAL') return false;
    const known = this.#tokens.get(token);
    if (known && this.#useProlongs) this.#tokens.set(token, { ...known, expiresAt: now + lifeMs });
    return true;
  }

  check(token: string, now: number): ShownToken {
    if (token === standingToken) {
      const today = Math.floor(now / dayMilliseconds) * dayMilliseconds;
      return { token, status: 'NORMAL', expiresAt: today + lifeMs };
    }
    const known = this.#tokens.get(token);
    if (!known) return { token, status: 'INVALID' };
    const { createdAt, expiresAt } = known;
    if (now >= expiresAt) return { token, status: 'EXPIRED', expiresAt };
    if (now - createdAt < Math.min(this.#approvalMs, maxApprovalMs))
      return { token, status: 'PENDING', expiresAt };
    // It was not seen what becomes of a token that its owner did not approve; it is not one that expired.
    return this.#approvalMs <= maxApprovalMs
      ? { token, status: 'NORMAL', expiresAt }
      : { token, status: 'INVALID' };
  }
}
