/**
 * Contract of the events: the `detail` of each, as a schema and as a type. Requests are strict, because a misspelt member would otherwise be ignored
 * silently; replies are open, because later versions may add members.
 */

import * as v from 'valibot';
import { described, moment } from '../catalogue/described.ts';
import { getStockSnapshots } from '../catalogue/market-data/snapshots.ts';
import type { Operation } from '../catalogue/operation.ts';
import { text } from '../catalogue/schemas.ts';
import type { Given, Got, QueryOf, ResultOf } from '../client/types.ts';
import { type eventNames, longestDeadlineSeconds, requesters } from './names.ts';

const { symbols, category } = getStockSnapshots.query;

/** Limit of one lookup. One call of the upstream accepts fewer, but lookups are split into calls anyway. */
const maxSymbols = 500;

/** Id that the requester chooses; safe in a rule's pattern, a log line and a key. */
export const requestId = v.pipe(
  v.string(),
  v.regex(
    /^[A-Za-z0-9][A-Za-z0-9._:/#@=+-]{0,255}$/,
    '1 to 256 letters, digits and . _ : / # @ = + -, beginning with a letter or digit',
  ),
  v.description(
    'Names the request among those of its requester; its reply has the same. Another request of that requester with the same id is refused.',
  ),
);

const isMoment = (text: string) => !Number.isNaN(Date.parse(text));

const commonMembers = {
  request_id: requestId,
  max_age_seconds: v.optional(
    v.pipe(
      v.number(),
      v.integer('a whole number'),
      v.minValue(0),
      v.maxValue(86_400),
      v.description(
        'How old the answer may be; what is older counts as not had yet. When absent, quotes may be as old as the stack’s bound, 30 seconds by default, and other answers as old as interactive callers get them.',
      ),
    ),
  ),
  deadline: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^2\d{3}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z$/,
        'a moment in UTC, like 2026-10-21T13:30:00Z',
      ),
      v.check(isMoment, 'a moment that exists'),
      v.description(
        `After it the reply is a failure. Beside deadline_seconds the earlier counts; at most ${longestDeadlineSeconds / 3600} hours ahead.`,
      ),
    ),
  ),
  deadline_seconds: v.optional(
    v.pipe(
      v.number(),
      v.integer('a whole number'),
      v.minValue(1),
      v.maxValue(longestDeadlineSeconds),
      v.description('The deadline, counted from when the request came into the queue. Default 300.'),
    ),
  ),
};

const symbol = v.pipe(
  v.string(),
  v.regex(
    new RegExp(symbols.json.pattern),
    'a symbol: printable, without a comma, an & or a space at an end',
  ),
  v.maxLength(64),
);

export const quoteLookupRequested = v.strictObject({
  ...commonMembers,
  symbols: v.pipe(v.array(symbol), v.minLength(1), v.maxLength(maxSymbols)),
  category: category.schema,
  extend_hour_required: v.optional(v.boolean()),
  overnight_required: v.optional(v.boolean()),
});

const value = v.union([v.string(), v.number(), v.boolean()]);

/** Leaves the operation's own parameters unchecked: the catalogue's entry checks them. */
export const readRequested = v.strictObject({
  ...commonMembers,
  operation: described(v.string(), 'Id of a read operation of a group that is readable by event.'),
  query: v.optional(v.record(v.string(), v.union([value, v.array(value)]))),
  body: v.optional(v.record(v.string(), v.unknown())),
});

/** Identify the request in every reply: the rule of a requester selects its own replies by them. */
const requestRef = {
  request_id: requestId,
  requester: v.optional(
    described(
      text,
      `The source of the request on the bus, or ${requesters.queue} or ${requesters.function}. Request ids are apart for each.`,
    ),
  ),
};

const part = v.pipe(v.number(), v.integer(), v.minValue(1));

/** Number the events of a reply, which is split if it is too large for one entry of a bus. */
const parts = {
  part: described(part, 'Which of the events of this reply it is, from 1.'),
  parts: described(part, 'How many events the reply has: 1 unless it is too large for one.'),
};

const asOf = described(moment, 'The upstream was asked then or later, for all that is in the reply.');

export const quoteLookupCompleted = v.looseObject({
  ...requestRef,
  ...parts,
  category: v.string(),
  as_of: asOf,
  quotes: described(
    getStockSnapshots.response,
    'Of this part: the upstream’s records, not a byte of them changed.',
  ),
  unknown: described(v.array(v.string()), 'Symbols that the upstream does not know.'),
  missing: described(
    v.array(v.looseObject({ symbol: v.string(), code: v.string() })),
    'Symbols that could not be had before the deadline, and why.',
  ),
});

const failure = {
  ...requestRef,
  code: described(text, 'deadline_passed, invalid_request, or a code of the gateway’s refusals.'),
  retryable: described(v.boolean(), 'Whether the same request, under a new id, may be answered later.'),
  detail: described(v.string(), 'Why, for people.'),
  errors: v.optional(
    described(
      v.array(
        v.looseObject({
          name: v.string(),
          detail: v.string(),
          allowed: v.optional(v.string()),
          received: v.optional(v.string()),
        }),
      ),
      'Each wrong part of the request.',
    ),
  ),
  upstream: v.optional(
    described(
      v.looseObject({
        status: v.pipe(v.number(), v.integer()),
        error_code: v.optional(v.string()),
        message: v.optional(v.string()),
      }),
      'What the upstream said when it refused.',
    ),
  ),
};

export const quoteLookupFailed = v.looseObject(failure);

export const readFailed = v.looseObject({ ...failure, operation: v.optional(v.string()) });

export const readCompleted = v.looseObject({
  ...requestRef,
  ...parts,
  operation: v.string(),
  as_of: asOf,
  answer: v.optional(described(v.unknown(), 'The upstream’s answer, where it fits one event.')),
  text: v.optional(
    described(
      v.string(),
      'Otherwise a piece of its JSON text: joined in order of `part` they are the answer.',
    ),
  ),
});

export type QuoteLookupRequested = Given<v.InferInput<typeof quoteLookupRequested>>;
export type QuoteLookupCompleted = Got<v.InferOutput<typeof quoteLookupCompleted>>;
export type QuoteLookupFailed = Got<v.InferOutput<typeof quoteLookupFailed>>;

type ReadOptions = Omit<Given<v.InferInput<typeof readRequested>>, 'operation' | 'query' | 'body'>;

/** @template O the operation that is read */
export interface ReadRequested<O extends Operation = Operation> extends ReadOptions {
  readonly operation: O['id'];
  readonly query?: Operation extends O ? Readonly<Record<string, unknown>> : QueryOf<O>;
  readonly body?: unknown;
}

export type ReadCompleted<O extends Operation = Operation> = Omit<
  Got<v.InferOutput<typeof readCompleted>>,
  'answer'
> & { answer?: Operation extends O ? unknown : ResultOf<O> };
export type ReadFailed = Got<v.InferOutput<typeof readFailed>>;

/** A request, ready for a bus; its `detail` alone is ready for the queue. */
export interface RequestEvent<D> {
  readonly detailType: (typeof eventNames)[keyof typeof eventNames]['requested'];
  readonly detail: D;
}

/** A reply of the kind `detailType`. */
export type Reply =
  | { readonly detailType: 'QuoteLookupCompleted'; readonly detail: QuoteLookupCompleted }
  | { readonly detailType: 'QuoteLookupFailed'; readonly detail: QuoteLookupFailed }
  | { readonly detailType: 'ReadCompleted'; readonly detail: ReadCompleted }
  | { readonly detailType: 'ReadFailed'; readonly detail: ReadFailed };
