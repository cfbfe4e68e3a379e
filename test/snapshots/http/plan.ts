/** The order of the load process and its results; both are sent between processes. */

export interface Caller {
  readonly key: string;
  /** The address of this machine that requests come from. */
  readonly localAddress: string;
}

/** Asks at set moments, whether or not what was asked before is answered. */
export interface Asking extends Caller {
  readonly name: string;
  /** Paths with queries, asked for in turn. */
  readonly targets: readonly string[];
  readonly firstMs: number;
  readonly everyMs: number;
  readonly times: number;
}

/** Asks for one target until it is answered in full. */
export interface Seeking extends Caller {
  readonly name: string;
  readonly target: string;
  readonly firstMs: number;
  /** The least between an answer and the next request; `Retry-After` may make it more. */
  readonly pauseMs: number;
  readonly giveUpMs: number;
}

/** Over as soon as no client seeks any more; without seekers, when all is answered. */
export interface Plan {
  readonly askings: readonly Asking[];
  readonly seekings: readonly Seeking[];
}

/** One request; times count from the start of the plan. */
export interface Sample {
  readonly name: string;
  /** When it was to be sent. */
  readonly dueMs: number;
  /** How much later the load process got to it. */
  readonly lateMs: number;
  /** From sending to the end of the answer. */
  readonly tookMs: number;
  /** 0 when there was no answer. */
  readonly status: number;
  /** Of a refusal, or of the error in place of an answer. */
  readonly code?: string;
  /** A 200, and with a record of each symbol that was asked for, if any was. */
  readonly isFull: boolean;
  /** Of `cache-status`: not all was cached when the request came. */
  readonly isMiss: boolean;
  readonly retryAfterSeconds?: number;
  /** Of the header: of the oldest record, rounded up. */
  readonly ageSeconds?: number;
}

/** What a plan came to. */
export interface Run {
  readonly samples: readonly Sample[];
  /** The local run's main thread: how long it ran, and how long other work delayed it. */
  readonly thread: { readonly ranMs: number; readonly keptMs: number } | undefined;
}

/** What the study sends to the load process. */
export interface Order {
  readonly baseUrl: string;
  readonly plan: Plan;
}
