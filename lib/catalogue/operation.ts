/** The description of an operation: everything else in the project is derived from it. */

import type { GenericSchema } from 'valibot';
import type { Freshness } from './freshness.ts';
import type { Group } from './groups.ts';
import type { EndpointKind, LimitName } from './limits.ts';
import type { Note, Source } from './notes.ts';
import type { Parameter } from './parameters.ts';

export interface Operation {
  /** Stable name; also the OpenAPI operation id, and the client's method name unless it is an older form. */
  readonly id: string;
  readonly group: Group;
  readonly title: string;
  readonly method: 'GET' | 'POST';
  /** The path that the interface text shows, or else the current version's. */
  readonly path: string;
  /** Other paths of the same operation, with the same method and parameters. */
  readonly aliases: readonly string[];
  readonly query: Readonly<Record<string, Parameter>>;
  /** The operation takes query parameters that no source names. */
  readonly anyQuery?: true;
  /** Present exactly when the operation takes a JSON body. */
  readonly body?: GenericSchema;
  /** Request headers of the client that are forwarded, in lower case; none of them is signed. */
  readonly headers?: readonly string[];
  /** Types and documents the answer; it never refuses one. */
  readonly response: GenericSchema;
  /** Present where the status of a 200 says all: its body may be empty, or any JSON. */
  readonly answersByStatus?: true;
  /** Where accounts stand in requests and answers; absent where none does. */
  readonly accounts?: AccountPlaces;
  /** The upstream limit that a request counts against. */
  readonly limit?: LimitName | undefined;
  /** Which of the vendor's figures is its own, where `limit` does not say it. */
  readonly endpointKind?: Exclude<EndpointKind, LimitName> | undefined;
  /**
   * Present when an answer may serve equal requests, so that it can be cached: for how long, or `by-symbol` when it
   * is a list of one record for each requested symbol: these are cached one by one. Answers of closed groups are
   * cached apart, see `isAccountData`.
   */
  readonly freshness?: Freshness | 'by-symbol' | undefined;
  /**
   * True for one by-symbol operation: its snapshots are stored under the account's name alone. Others add their id.
   * Stored formats outlive a deployment, so it stays with the first such operation.
   */
  readonly hasAccountPartition?: true;
  /**
   * Present when a request changes state at the upstream, so that it is sent at most once. `findOut` is how a
   * caller finds out the outcome when the answer is lost, or when `saysOutcome` is false of an answer of status 200.
   * `cancels` marks a request that takes back what an earlier one began: nothing else may delay it.
   */
  readonly sideEffect?: {
    readonly findOut: string;
    readonly saysOutcome: (answer: unknown) => boolean;
    /** How a gateway with a journal keeps the request. Absent: it does not. */
    readonly journal?: Journaled;
    readonly cancels?: true;
  };
  /**
   * Present when a gateway answers by itself: then it reads no secret, takes no permit and sends nothing. `body` is
   * the JSON that it answers with, in ASCII without `$` and `#`, which API Gateway would read as a template;
   * `reason` is why nothing is sent.
   */
  readonly gatewayAnswer?: { readonly body: string; readonly reason: string };
  /** Present when a gateway answers of what it keeps itself, after all checks: it takes no permit and sends nothing. */
  readonly answeredBy?: 'journal' | 'trade events';
  /** Present when the answer is a stream of server-sent events: the operation by symbol whose records it tells as they change. */
  readonly follows?: Operation;
  /** Bytes of a record, generously. Present when the answer has `count` such records, or 200, for each of `symbols`. */
  readonly recordBytes?: number;
  /** Present when the answer is one page of several. */
  readonly paging?: Paging | undefined;
  /**
   * Present where a 200 can say that the request failed: its answer is a bare `false`, or has `false` in this member.
   * The answer passes as it is; the typed client makes an error of it.
   */
  readonly verdict?: string;
  /** A valid request: for the documentation, and for tests of every operation. */
  readonly example: Example;
  /** The sources of the path, the parameters and the answer. */
  readonly sources: {
    readonly path: readonly Source[];
    readonly request: readonly Source[];
    readonly response: readonly Source[];
  };
  /** Facts for callers that types and limits do not express. */
  readonly notes?: readonly Note[] | undefined;
  /** What was decided where sources conflict or are silent. */
  readonly decisions?: readonly string[];
  /** Present when a source calls the operation retired or superseded: what to use instead. */
  readonly deprecated?: string;
  /** Present when this is the older form of an operation, which clients in the field still call: the current one's id. */
  readonly legacyOf?: string;
}

/** What the journal of a gateway knows a request by when it comes again. */
export type Journaled =
  | {
      /** Each order in this member of the body, by its id. */
      readonly by: 'client_order_id';
      readonly list: 'new_orders' | 'batch_orders';
      /** Whether the answer says of each order what became of it, or all are placed together or not at all. */
      readonly answered: 'each' | 'together';
      /** The id of the operation that shows what became of an order. */
      readonly lookUp: string;
    }
  | {
      /** The whole request, by the header that its client chose. */
      readonly by: 'idempotency-key';
      /** Without that header: recorded for the audit alone, or not at all. */
      readonly unkeyed: 'recorded' | 'not_recorded';
      /** The order's terms show that the request was executed; of one that cancels, the order's status does. */
      readonly replaces?: true;
      readonly lookUp?: string;
    };

/** Whether it places or replaces orders: pre-trade checks and the kill switch are for these. */
export const isGuarded = ({ sideEffect }: Pick<Operation, 'sideEffect'>): boolean => {
  const { journal } = sideEffect ?? {};
  return journal?.by === 'client_order_id' || journal?.replaces === true;
};

/** Whether the answer is a stream of server-sent events. */
export const isStream = ({ follows, answeredBy }: Pick<Operation, 'follows' | 'answeredBy'>): boolean =>
  follows !== undefined || answeredBy === 'trade events';

/** False of what a gateway answers by itself. */
export const isSentOn = ({ gatewayAnswer, answeredBy, follows }: Operation): boolean =>
  !gatewayAnswer && !answeredBy && !follows;

/** Every place of an account id: what it names is checked against what the caller may see and do. */
export interface AccountPlaces {
  /** Names of query parameters. */
  readonly query?: readonly string[];
  /** JSON Pointers into the body, with `*` for each element of a list: `/batch_orders/*` and then `/account_id`. */
  readonly body?: readonly string[];
  /**
   * The answer is a list of records of several accounts: each is passed on only to callers who may see the account in
   * its member `by`. `list` is the JSON Pointer of the list, empty where the answer is the list itself.
   */
  readonly records?: { readonly list: string; readonly by: string };
}

/** How to request the next page: by sending `parameter` with the value from the page before. */
export interface Paging {
  readonly parameter: string;
  /** The answer's member that holds the records; absent when the answer is the list itself. */
  readonly items?: string;
  /** Where the parameter's next value stands: in a member of the answer, or in one of its last record. */
  readonly next: { readonly member: string } | { readonly ofLastItem: string };
}

export interface Example {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * Gives an entry its exact type, from which the client's methods take theirs. Free of side effects, so that a
 * bundler leaves out unused entries.
 */
/* @__NO_SIDE_EFFECTS__ */
export function describe<const O extends Operation>(operation: O): O {
  return operation;
}

/** Pages of the current version: a cursor beside the records, absent on the last page. */
export const cursorPaging = {
  parameter: 'pagination_key',
  items: 'data',
  next: { member: 'pagination_key' },
} as const satisfies Paging;
