/**
 * A circuit breaker: after several failures in a row nothing is asked for a while, then one request finds out whether it is
 * over. A plain state machine over a clock; it knows neither requests nor hosts.
 */

import { steadyClock } from './age.ts';
import { type BackOff, backOffMs } from './pauses.ts';

export interface CircuitBreakerOptions {
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** From 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
  /** So many failures in a row open it. Default 5: two reads with all their attempts, hardly ever chance. */
  readonly failures?: number;
  /** How long it stays open; longer after each probe that fails. Default 2 s to 15 s, of which half is random. */
  readonly pause?: BackOff;
}

/**
 * What a request showed: it works, it fails, or neither, as of a request that was not sent after all. `part` is what of the
 * whole the failure is about; absent when it is about all of it, such as a connection that cannot be made.
 */
export type Sight<Failure> =
  | { readonly kind: 'works' | 'nothing' }
  | { readonly kind: 'fails'; readonly failure: Failure; readonly isAboutAll: boolean };

export type Admission<Failure> =
  /** `end` is to be called when the request has ended; of several calls the first counts. */
  | { readonly kind: 'admitted'; readonly end: (sight: Sight<Failure>) => void }
  /** The last failure, and when another request makes sense. */
  | { readonly kind: 'refused'; readonly failure: Failure; readonly retryAfterMs: number };

/**
 * Failures in a row of one part alone, such as one endpoint, open it for that part; those of several parts, or about all,
 * for all. What works in between ends the row.
 */
export interface CircuitBreaker<Failure> {
  /** Asks whether a request about a part may be made. */
  admit(part: string): Admission<Failure>;
  /** Tells of a request that was made without asking. */
  observe(part: string, sight: Sight<Failure>): void;
}

/** While one request finds out, the others come again after this. */
const probeMs = 1000;

/** A row of failures: how many, and of which part when it is only one. */
interface Row {
  readonly failures: number;
  readonly part: string | undefined;
}

interface Open<Failure> {
  /** Undefined for all. */
  readonly part: string | undefined;
  readonly failure: Failure;
  readonly until: number;
  /** How often it was opened again since it was closed. */
  readonly reopened: number;
  readonly isProbing: boolean;
}

const noRow: Row = { failures: 0, part: undefined };

/**
 * @example
 * const breaker = createCircuitBreaker<string>();
 * const admission = breaker.admit('listAccounts');
 * if (admission.kind === 'refused') throw new Error(admission.failure);
 * const { ok } = await fetch(url);
 * admission.end(ok ? { kind: 'works' } : { kind: 'fails', failure: 'no answer', isAboutAll: false });
 */
export const createCircuitBreaker = <Failure>(options: CircuitBreakerOptions = {}): CircuitBreaker<Failure> =>
  new Breaker(options);

class Breaker<Failure> implements CircuitBreaker<Failure> {
  readonly #clock: () => number;
  readonly #random: () => number;
  readonly #failures: number;
  readonly #pause: BackOff;
  /** Of what is not refused now. */
  #row = noRow;
  #open: Open<Failure> | undefined;

  constructor({ clock = Date.now, random = Math.random, failures = 5, pause }: CircuitBreakerOptions) {
    this.#clock = steadyClock(clock);
    this.#random = random;
    this.#failures = failures;
    this.#pause = pause ?? { firstMs: 2000, maxMs: 15_000 };
  }

  admit(part: string): Admission<Failure> {
    const open = this.#open;
    if (!open || !concerns(open, part)) return admitted((sight) => this.observe(part, sight));
    const waitMs = open.until - this.#clock();
    if (waitMs > 0 || open.isProbing)
      return {
        kind: 'refused',
        failure: open.failure,
        retryAfterMs: Math.max(waitMs, open.isProbing ? probeMs : 0),
      };
    const probing = { ...open, isProbing: true };
    this.#open = probing;
    return admitted((sight) => {
      // Another request may have shown meanwhile that it works.
      if (this.#open !== probing) this.observe(part, sight);
      else if (sight.kind === 'works') this.#close();
      else if (sight.kind === 'fails') this.#openFor(open.part, sight.failure, open.reopened + 1);
      else this.#open = open;
    });
  }

  observe(part: string, sight: Sight<Failure>): void {
    const open = this.#open;
    const isConcerned = open !== undefined && concerns(open, part);
    if (sight.kind === 'works') {
      if (isConcerned) this.#close();
      this.#row = noRow;
    } else if (sight.kind === 'fails' && !(isConcerned && (open.part === undefined || !sight.isAboutAll)))
      this.#fail(sight.isAboutAll ? undefined : part, sight.failure);
  }

  #fail(part: string | undefined, failure: Failure): void {
    const { failures, part: before } = this.#row;
    this.#row = { failures: failures + 1, part: failures === 0 || before === part ? part : undefined };
    if (this.#row.failures < this.#failures) return;
    // Of two parts that fail each for itself, it is all that fails.
    this.#openFor(this.#open ? undefined : this.#row.part, failure, 0);
  }

  #openFor(part: string | undefined, failure: Failure, reopened: number): void {
    const pauseMs = backOffMs(this.#pause, reopened) * (0.5 + this.#random() / 2);
    this.#open = { part, failure, until: this.#clock() + pauseMs, reopened, isProbing: false };
    this.#row = noRow;
  }

  #close(): void {
    this.#open = undefined;
    this.#row = noRow;
  }
}

const concerns = (open: Open<unknown>, part: string) => open.part === undefined || open.part === part;

function admitted<Failure>(end: (sight: Sight<Failure>) => void): Admission<Failure> {
  let hasEnded = false;
  return {
    kind: 'admitted',
    end(sight) {
      if (!hasEnded) end(sight);
      hasEnded = true;
    },
  };
}
