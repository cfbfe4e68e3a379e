/** Description of an operation, from which everything else in the project is derived. */

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
  /** Path that the interface text shows, or else the path of the current version. */
  readonly path: string;
  /** Other paths of the same operation, with the same method and parameters. */
  readonly aliases: readonly string[];
  readonly query: Readonly<Record<string, Parameter>>;
  /** Present when the operation accepts query parameters that no source names. */
  readonly anyQuery?: true;
  /** Present exactly when the operation takes a JSON body. */
  readonly body?: GenericSchema;
  /** Request headers of the client that are forwarded, in lower case; none of them is signed. */
  readonly headers?: readonly string[];
  /** Types and documents the answer; it never refuses one. */
  readonly response: GenericSchema;
  /** Present when the status 200 is the whole answer: its body may be empty, or any JSON. */
  readonly answersByStatus?: true;
  /** Places of account ids in requests and answers; absent if there are none. */
  readonly accounts?: AccountPlaces;
  /** Upstream limit that a request counts against. */
  readonly limit?: LimitName | undefined;
  /** Kind of the endpoint in the vendor's table, if `limit` does not name it. */
  readonly endpointKind?: Exclude<EndpointKind, LimitName> | undefined;
  /**
   * Present when an answer may serve equal requests, and so is cached: the time, or `by-symbol` for a list of one record for
   * each requested symbol, whose records are cached one by one. Answers of closed groups are cached for each account, see
   * `isAccountData`.
   */
  readonly freshness?: Freshness | 'by-symbol' | undefined;
  /**
   * True for the by-symbol operation whose snapshots are stored under the account's name alone; others add their id. It
   * stays with the first such operation, because stored formats outlive a deployment.
   */
  readonly hasAccountPartition?: true;
  /**
   * Present when a request changes state at the upstream, so that it is sent at most once. `findOut` tells a caller how to
   * find out the outcome when the answer is lost, or when `saysOutcome` is false for an answer of status 200. `cancels`
   * marks a request that cancels an earlier one: nothing else may delay it.
   */
  readonly sideEffect?: {
    readonly findOut: string;
    readonly saysOutcome: (answer: unknown) => boolean;
    /** Describes how a gateway's journal records the request; absent if it does not. */
    readonly journal?: Journaled;
    readonly cancels?: true;
  };
  /**
   * Present when a gateway answers with a fixed body: then it reads no secret, takes no permit and sends nothing. `body` is
   * JSON in ASCII without `$` and `#`, which API Gateway would read as a template; `reason` explains why nothing is sent.
   */
  readonly gatewayAnswer?: { readonly body: string; readonly reason: string };
  /** Present when a gateway answers from its own records, after all checks: it takes no permit and sends nothing. */
  readonly answeredBy?: 'journal' | 'trade events';
  /** Present when the answer is a stream of server-sent events: the by-symbol operation whose changed records it sends. */
  readonly follows?: Operation;
  /** Upper estimate of a record's bytes. Present when the answer has `count` records, or 200, for each of `symbols`. */
  readonly recordBytes?: number;
  /** Present when the answer is one page of several. */
  readonly paging?: Paging | undefined;
  /**
   * Present when a 200 can report a failure: its answer is a bare `false`, or has `false` in this member. A gateway passes
   * such an answer on unchanged; the typed client throws an error.
   */
  readonly verdict?: string;
  /** A valid request, for the documentation and for tests of every operation. */
  readonly example: Example;
  /** Sources of the path, the parameters and the answer. */
  readonly sources: {
    readonly path: readonly Source[];
    readonly request: readonly Source[];
    readonly response: readonly Source[];
  };
  /** Facts for callers that types and limits do not express. */
  readonly notes?: readonly Note[] | undefined;
  /** Decisions where sources conflict or are silent. */
  readonly decisions?: readonly string[];
  /** Replacement to use; present when a source calls the operation retired or superseded. */
  readonly deprecated?: string;
  /** Id of the current operation; present when this is an older form that clients in the field still call. */
  readonly legacyOf?: string;
}

/** Key by which a gateway's journal recognises a repeated request. */
export type Journaled =
  | {
      /** Identifies each order in the body's member `list` by the order's id. */
      readonly by: 'client_order_id';
      readonly list: 'new_orders' | 'batch_orders';
      /** `each`: the answer names the outcome of each order; `together`: all are placed, or none. */
      readonly answered: 'each' | 'together';
      /** Id of the operation that shows the outcome of an order. */
      readonly lookUp: string;
    }
  | {
      /** Identifies the whole request by the header's value, which its client chose. */
      readonly by: 'idempotency-key';
      /** Treatment of a request without that header: recorded for the audit alone, or not at all. */
      readonly unkeyed: 'recorded' | 'not_recorded';
      /** Present when the order's terms show that the request was executed. After a cancel, the order's status shows it. */
      readonly replaces?: true;
      readonly lookUp?: string;
    };

/** Whether the operation places or replaces orders: pre-trade checks and the kill switch apply to it. */
export const isGuarded = ({ sideEffect }: Pick<Operation, 'sideEffect'>): boolean => {
  const { journal } = sideEffect ?? {};
  return journal?.by === 'client_order_id' || journal?.replaces === true;
};

/** Whether the answer is a stream of server-sent events. */
export const isStream = ({ follows, answeredBy }: Pick<Operation, 'follows' | 'answeredBy'>): boolean =>
  follows !== undefined || answeredBy === 'trade events';

/** Whether a gateway sends requests of the operation to the upstream; false if it answers them itself. */
export const isSentOn = ({ gatewayAnswer, answeredBy, follows }: Operation): boolean =>
  !gatewayAnswer && !answeredBy && !follows;

/** Every place of an account id. The gateway checks the caller's rights to each account that is named there. */
export interface AccountPlaces {
  /** Names of query parameters. */
  readonly query?: readonly string[];
  /** JSON Pointers into the body, with `*` for each element of a list: `/batch_orders/*` and then `/account_id`. */
  readonly body?: readonly string[];
  /**
   * Present when the answer is a list of records of several accounts: a record is passed on only to callers who may see the
   * account in its member `by`. `list` is the JSON Pointer of the list, empty if the answer is the list itself.
   */
  readonly records?: { readonly list: string; readonly by: string };
}

/** Describes how to request the next page: with `parameter` set to the value from the page before. */
export interface Paging {
  readonly parameter: string;
  /** Member of the answer that holds the records; absent when the answer is the list itself. */
  readonly items?: string;
  /** Place of the parameter's next value: a member of the answer, or of its last record. */
  readonly next: { readonly member: string } | { readonly ofLastItem: string };
}

export interface Example {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * Gives an entry its exact type, from which the client's methods are typed. Free of side effects, so that a bundler
 * leaves out unused entries.
 */
/* @__NO_SIDE_EFFECTS__ */
export function describe<const O extends Operation>(operation: O): O {
  return operation;
}

/** Paging of the current version: a cursor beside the records, absent on the last page. */
export const cursorPaging = {
  parameter: 'pagination_key',
  items: 'data',
  next: { member: 'pagination_key' },
} as const satisfies Paging;
