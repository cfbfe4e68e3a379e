/** Types of the events, all derived from the contract and the catalogue. */

import type { InferInput, InferOutput } from 'valibot';
import type { Operation } from '../catalogue/operation.ts';
import type { Given, Got, QueryOf, ResultOf } from '../client/types.ts';
import type { eventNames } from './names.ts';
import type * as schemas from './schemas.ts';

export type QuoteLookupRequested = Given<InferInput<typeof schemas.quoteLookupRequested>>;
export type QuoteLookupCompleted = Got<InferOutput<typeof schemas.quoteLookupCompleted>>;
export type QuoteLookupFailed = Got<InferOutput<typeof schemas.quoteLookupFailed>>;

type ReadOptions = Omit<Given<InferInput<typeof schemas.readRequested>>, 'operation' | 'query' | 'body'>;

/** @template O the operation that is read */
export interface ReadRequested<O extends Operation = Operation> extends ReadOptions {
  readonly operation: O['id'];
  readonly query?: Operation extends O ? Readonly<Record<string, unknown>> : QueryOf<O>;
  readonly body?: unknown;
}

export type ReadCompleted<O extends Operation = Operation> = Omit<
  Got<InferOutput<typeof schemas.readCompleted>>,
  'answer'
> & { answer?: Operation extends O ? unknown : ResultOf<O> };
export type ReadFailed = Got<InferOutput<typeof schemas.readFailed>>;

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
