/**
 * A circuit breaker: after several failures in a row it refuses requests for a while, then lets one probe find out whether
 * they work again. One caller's failures stop that caller alone: a caller whose requests never get an answer stops no other.
 * A plain state machine over a clock; it knows neither requests nor hosts.
 */

import { steadyClock } from './age.ts';
import { putLatest } from './bounded-map.ts';
import { type BackOff, halfJitteredMs } from './pauses.ts';

interface CircuitBreakerOptions {
  /** Now, in milliseconds since the epoch. */
  readonly clock?: (() => number) | undefined;
  /** From 0 to below 1. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Number of failures in a row that opens it. Default 5: two reads with all their attempts, hardly ever chance. */
  readonly failures?: number;
  /** Time for which it stays open; longer after each probe that fails. Default 2 s to 15 s, of which half is random. */
  readonly pause?: BackOff;
}

/**
 * Outcome of a request: it works, it fails, or it shows nothing, for example because it was not sent after all. A failure
 * `isAboutAll` when it concerns every part, such as a connection that cannot be made.
 */
export type Sight<Failure> =
  | { readonly kind: 'works' | 'nothing' }
  | { readonly kind: 'fails'; readonly failure: Failure; readonly isAboutAll: boolean };

export type Admission<Failure> =
  | Admitted<Failure>
  /** Carries the last failure, and the time until another request makes sense. */
  | { readonly kind: 'refused'; readonly failure: Failure; readonly retryAfterMs: number };

interface Admitted<Failure> {
  readonly kind: 'admitted';
  /** Must be called when the request has ended; the first of several calls counts. */
  readonly end: (sight: Sight<Failure>) => void;
}

/**
 * Failures in a row of one part alone, such as one endpoint, open it for that part; failures of several parts, or about all,
 * open it for all parts. Failures of one caller open it for that caller; failures of several callers, about all, or of a
 * request without a caller, open it for all callers. A success ends the row, and a failure does not count when another
 * request worked meanwhile.
 */
export interface CircuitBreaker<Failure> {
  /** Asks whether a request about a part may be made. */
  admit(part: string, caller?: string): Admission<Failure>;
  /** Observes a request that is made in any case. */
  watch(part: string, caller?: string): Admitted<Failure>;
}

/** Pause of other requests while a probe is under way, and extra pause before an unproven caller may send the probe. */
const probeMs = 1000;
/** Callers with a circuit of their own; beyond that, the callers that asked longest ago lose theirs. */
const maxCallers = 1000;

/** Failures in a row: their number, and the part and the caller if all have the same one. */
interface FailureRow {
  readonly failures: number;
  readonly part: string | undefined;
  readonly caller: string | undefined;
}

interface OpenCircuit<Failure> {
  /** Undefined when the circuit is open for all parts. */
  readonly part: string | undefined;
  readonly failure: Failure;
  readonly until: number;
  /** Number of probes since it opened; a probe that showed nothing is not counted. */
  readonly reopened: number;
  readonly isProbing: boolean;
  /** Whether a proven caller has sent a probe. */
  readonly isVerified: boolean;
}

const noRow: FailureRow = { failures: 0, part: undefined, caller: undefined };

/**
 * @example
 * const breaker = createCircuitBreaker<string>();
 * const admission = breaker.admit('listAccounts');
 * if (admission.kind === 'refused') throw new Error(admission.failure);
 * const { ok } = await fetch(url);
 * admission.end(ok ? { kind: 'works' } : { kind: 'fails', failure: 'no answer', isAboutAll: false });
 */
export const createCircuitBreaker = <Failure>(options: CircuitBreakerOptions = {}): CircuitBreaker<Failure> =>
  new CallersBreaker(options);

/** One circuit for all callers together, and one for each. */
class CallersBreaker<Failure> implements CircuitBreaker<Failure> {
  readonly #options: CircuitBreakerOptions;
  readonly #all: Circuit<Failure>;
  readonly #own = new Map<string, Circuit<Failure>>();

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
    this.#all = new Circuit(options);
  }

  admit(part: string, caller?: string): Admission<Failure> {
    const own = this.#ownOf(caller);
    const rank = !own ? 'unnamed' : own.isProven ? 'proven' : 'unproven';
    const ofCaller = own?.admit(part);
    if (ofCaller?.kind === 'refused') return ofCaller;
    const ofAll = this.#all.admit(part, caller, rank);
    if (ofAll.kind === 'admitted') return endBoth(ofAll, ofCaller);
    ofCaller?.end({ kind: 'nothing' });
    return ofAll;
  }

  watch(part: string, caller?: string): Admitted<Failure> {
    return endBoth(this.#all.watch(part, caller), this.#ownOf(caller)?.watch(part));
  }

  #ownOf(caller: string | undefined): Circuit<Failure> | undefined {
    if (caller === undefined) return undefined;
    const own = this.#own.get(caller) ?? new Circuit(this.#options);
    putLatest(this.#own, caller, own, maxCallers);
    return own;
  }
}

const endBoth = <Failure>(first: Admitted<Failure>, second?: Admitted<Failure>): Admitted<Failure> => ({
  kind: 'admitted',
  end(sight) {
    first.end(sight);
    second?.end(sight);
  },
});

class Circuit<Failure> {
  readonly #clock: () => number;
  readonly #random: () => number;
  readonly #failures: number;
  readonly #pause: BackOff;
  /** Failures of the parts that are not refused now. */
  #row = noRow;
  #open: OpenCircuit<Failure> | undefined;
  #worked = 0;

  constructor({ clock = Date.now, random = Math.random, failures = 5, pause }: CircuitBreakerOptions) {
    this.#clock = steadyClock(clock);
    this.#random = random;
    this.#failures = failures;
    this.#pause = pause ?? { firstMs: 2000, maxMs: 15_000 };
  }

  /** Whether the last request worked, and none is refused. */
  get isProven(): boolean {
    return this.#worked > 0 && this.#open === undefined && this.#row.failures === 0;
  }

  /**
   * @param rank a proven caller may probe an open circuit at once, because the failures may be the fault of the callers
   *   whose requests failed; an unproven caller probes last
   */
  admit(
    part: string,
    caller?: string,
    rank: 'proven' | 'unnamed' | 'unproven' = 'unnamed',
  ): Admission<Failure> {
    const open = this.#open;
    const request = this.watch(part, caller);
    if (!open || !concerns(open, part)) return request;
    const waitMs = open.until - this.#clock() + (rank === 'unproven' ? probeMs : 0);
    if (waitMs > 0 && (rank !== 'proven' || open.isVerified))
      return { kind: 'refused', failure: open.failure, retryAfterMs: open.isProbing ? probeMs : waitMs };
    // After the next pause another request may probe although this probe has not ended: it may never get an answer.
    const reopened = open.reopened + 1;
    const isVerified = open.isVerified || rank === 'proven';
    const until = this.#clock() + this.#pauseMs(reopened);
    const probing = { ...open, until, reopened, isProbing: true, isVerified };
    this.#open = probing;
    return admitted((sight) => {
      // Another request may have closed the circuit meanwhile.
      if (this.#open !== probing || sight.kind === 'works') request.end(sight);
      else if (sight.kind === 'fails') this.#openFor(open.part, sight.failure, reopened, isVerified);
      else this.#open = open;
    });
  }

  watch(part: string, caller?: string): Admitted<Failure> {
    const worked = this.#worked;
    return admitted((sight) => {
      const open = this.#open;
      const isConcerned = open !== undefined && concerns(open, part);
      if (sight.kind === 'works') {
        this.#worked++;
        if (isConcerned) this.#open = undefined;
        this.#row = noRow;
      } else if (
        sight.kind === 'fails' &&
        worked === this.#worked &&
        !(isConcerned && (open.part === undefined || !sight.isAboutAll))
      )
        this.#fail(sight.isAboutAll ? undefined : { part, caller }, sight.failure);
    });
  }

  #fail(about: Pick<FailureRow, 'part' | 'caller'> | undefined, failure: Failure): void {
    const { failures, part, caller } = this.#row;
    const same = <T>(before: T, now: T) => (failures === 0 || before === now ? now : undefined);
    this.#row = {
      failures: failures + 1,
      part: same(part, about?.part),
      caller: same(caller, about?.caller),
    };
    if (this.#row.failures < this.#failures || this.#row.caller !== undefined) return;
    // A second part that fails beside an open one means that all parts fail.
    this.#openFor(this.#open ? undefined : this.#row.part, failure, 0, false);
  }

  #openFor(part: string | undefined, failure: Failure, reopened: number, isVerified: boolean): void {
    const until = this.#clock() + this.#pauseMs(reopened);
    this.#open = { part, failure, until, reopened, isProbing: false, isVerified };
    this.#row = noRow;
  }

  #pauseMs(reopened: number): number {
    return halfJitteredMs(this.#pause, reopened, this.#random);
  }
}

const concerns = (open: OpenCircuit<unknown>, part: string) => open.part === undefined || open.part === part;

function admitted<Failure>(end: (sight: Sight<Failure>) => void): Admitted<Failure> {
  let hasEnded = false;
  return {
    kind: 'admitted',
    end(sight) {
      if (!hasEnded) end(sight);
      hasEnded = true;
    },
  };
}
