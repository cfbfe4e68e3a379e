/** Types of the client, all derived from the catalogue's entries. */

import type { GenericSchema, InferInput, InferOutput } from 'valibot';
import type { Operation, Paging } from '../catalogue/operation.ts';

/**
 * Removes the index signature of loose objects. The catalogue's objects accept further members at run time; in types that
 * signature (`[key: string]: unknown`) would accept every misspelling, too. A record's own signature, such as price to
 * volume, stays.
 */
type NamedKey<T, K extends keyof T> = string extends K ? (unknown extends T[K] ? never : K) : K;

/** Type of an argument: as the schema accepts it, and readonly throughout. */
export type Given<T> = T extends readonly (infer I)[]
  ? readonly Given<I>[]
  : T extends Date
    ? T
    : T extends object
      ? { readonly [K in keyof T as NamedKey<T, K>]: Given<T[K]> }
      : T;

/** Type of a result: the members that the catalogue names. A result may have more at run time. */
export type Got<T> = T extends readonly (infer I)[]
  ? Got<I>[]
  : T extends object
    ? { [K in keyof T as NamedKey<T, K>]: Got<T[K]> }
    : T extends string
      ? OpenEnumeration<T>
      : T;

/** Lets an editor complete the values of an enumeration, and allows the others that the upstream may send. */
type OpenEnumeration<T extends string> = string extends T ? T : T | (string & {});

/** Type of `{}`: a type that it extends requires no member. */
type Nothing = Record<never, never>;

type Flat<T> = { [K in keyof T]: T[K] };

/** An object without members: the type `{}` would accept anything. */
type NoMembers = { readonly [name: string]: never };

/** Query parameters that no source names. */
export type AnyQuery = {
  readonly [name: string]: string | number | boolean | readonly (string | number)[] | null | undefined;
};

type Queries = Operation['query'];
type NamedParameters<Q extends Queries> = Flat<
  {
    readonly [N in keyof Q as Q[N] extends { readonly required: true } ? N : never]: Given<
      InferInput<Q[N]['schema']>
    >;
  } & {
    readonly [N in keyof Q as Q[N] extends { readonly required: true } ? never : N]?:
      | Given<InferInput<Q[N]['schema']>>
      | undefined;
  }
>;

/** Named types with hover text that the built package declares for an entry, in place of the types derived here. */
export interface Declaration<Id, Query, Body, Result, Call> {
  /** Compared with the entry's id: a copy of this entry under another id has other types. */
  readonly id: Id;
  readonly query: Query;
  readonly body: Body;
  readonly result: Result;
  readonly call: Call;
}

/** Member of an entry's declaration; `never` if it has none. A declaration does not exist at run time. */
type Declared<O extends Operation, K extends keyof AnyDeclaration> = '~client' extends keyof O
  ? Extract<O['~client'], { readonly id: O['id'] } & AnyDeclaration>[K]
  : never;
type AnyDeclaration = Declaration<unknown, unknown, unknown, unknown, unknown>;

type Either<Declared, Derived> = [Declared] extends [never] ? Derived : Declared;

/** Query parameters of an operation, by name. */
export type QueryOf<O extends Operation> = Either<Declared<O, 'query'>, DerivedQuery<O>>;

type DerivedQuery<O extends Operation> = O extends { readonly anyQuery: true }
  ? NamedParameters<O['query']> & AnyQuery
  : keyof O['query'] extends never
    ? NoMembers
    : NamedParameters<O['query']>;

/** Body of an operation; `never` if it has none. */
export type BodyOf<O extends Operation> = O extends { readonly body: infer S extends GenericSchema }
  ? Either<Declared<O, 'body'>, Given<InferInput<S>>>
  : never;

/** Payload of the answer. It may have a value outside an enumeration: the client never refuses an answer for that. */
export type ResultOf<O extends Operation> = Either<Declared<O, 'result'>, Got<InferOutput<O['response']>>>;

type ElementOf<T> = T extends readonly (infer I)[] ? I : never;

/** A record of a page. */
export type ItemOf<O extends Operation> = O extends { readonly paging: { readonly items: infer M } }
  ? M extends keyof ResultOf<O>
    ? ElementOf<NonNullable<ResultOf<O>[M]>>
    : never
  : ElementOf<ResultOf<O>>;

/** Options of every call. */
export interface CallOptions {
  /**
   * Ends the call. A read rejects with the signal's reason. A request with a side effect cannot be revoked once
   * it is sent: it rejects with OutcomeUnknownError, whose cause is the reason.
   */
  readonly signal?: AbortSignal | undefined;
  /** Time-out to the last byte of the answer, instead of the client's. `Infinity` is none. */
  readonly timeoutMs?: number | undefined;
}

type QueryOption<O extends Operation> =
  BodyOf<O> extends never
    ? unknown
    : O extends { readonly anyQuery: true }
      ? { readonly query?: QueryOf<O> }
      : keyof O['query'] extends never
        ? unknown
        : Nothing extends QueryOf<O>
          ? { readonly query?: QueryOf<O> }
          : { readonly query: QueryOf<O> };

type HeadersOption<O extends Operation> = O extends { readonly headers: readonly (infer N extends string)[] }
  ? { readonly headers?: { readonly [K in N]?: string | undefined } }
  : unknown;

/** Option of changes that a gateway identifies by the client's key: all but placing orders, which have their own ids. */
export interface KeyOption {
  /**
   * Identifies this change for a gateway: within 24 hours the gateway executes one request with this key and these contents,
   * however often it comes, and refuses other contents with `idempotency_conflict`. Only for a client behind a gateway.
   */
  readonly idempotencyKey?: string | undefined;
}

type KeyOptionOf<O extends Operation> = O extends {
  readonly sideEffect: { readonly journal: { readonly by: 'idempotency-key' } };
}
  ? KeyOption
  : unknown;

/**
 * Options of an operation: those of every call, the headers that the catalogue names, the query beside a body, and the key
 * of a change.
 */
export type OptionsOf<O extends Operation> = Flat<
  CallOptions & QueryOption<O> & HeadersOption<O> & KeyOptionOf<O>
>;

/** The body if the operation has one, else the query parameters. */
type InputOf<O extends Operation> = BodyOf<O> extends never ? QueryOf<O> : BodyOf<O>;

export type Arguments<O extends Operation> =
  Nothing extends OptionsOf<O>
    ? Nothing extends InputOf<O>
      ? [input?: InputOf<O> | undefined, options?: OptionsOf<O>]
      : [input: InputOf<O>, options?: OptionsOf<O>]
    : [input: InputOf<O>, options: OptionsOf<O>];

/** An answer with its text, status and headers. */
export interface Answer<T> {
  readonly data: T;
  /** The body's text, unchanged: long numbers in it keep all digits. */
  readonly text: string;
  readonly status: number;
  /** Headers; in a browser only those that the other end exposes. */
  readonly headers: Headers;
  /** Names the call to the operator of the other end. */
  readonly requestId?: string;
  /**
   * True if a gateway sent nothing for this call, or lost its answer: the data is then the outcome of the first request with
   * the same id or key. In a browser it is true only if the gateway exposes its headers.
   */
  readonly isReplayed: boolean;
}

export interface Call<O extends Operation> {
  (...args: Arguments<O>): Promise<ResultOf<O>>;
  /** The same call, with text, status and headers in the result. */
  answer(...args: Arguments<O>): Promise<Answer<ResultOf<O>>>;
}

export interface PagedCall<O extends Operation> extends Call<O> {
  /**
   * Yields each page unchanged, from the first or from the given cursor to the last. Options apply to each page.
   * @throws BrokenAnswerError when a cursor leads back to an earlier page
   */
  pages(...args: Arguments<O>): AsyncGenerator<ResultOf<O>, void, undefined>;
  /** Yields the records of all pages. A record at the end of a page and the start of the next is yielded once. */
  items(...args: Arguments<O>): AsyncGenerator<ItemOf<O>, void, undefined>;
}

export type Method<O extends Operation> = Either<
  Declared<O, 'call'>,
  O extends { readonly paging: Paging } ? PagedCall<O> : Call<O>
>;

/** One method for each entry among the members of `C`. */
export type Client<C extends object> = {
  readonly [K in keyof C as C[K] extends Operation ? K : never]: C[K] extends Operation
    ? Method<C[K]>
    : never;
};

export interface ClientOptions<C extends object> {
  /** Time-out of each call, to the last byte of the answer, in milliseconds. Default 15 000; `Infinity` is none. */
  readonly timeoutMs?: number;
  /** Paths to use instead of an entry's own: one of its aliases, or a newer path. */
  readonly paths?: {
    readonly [K in keyof C as C[K] extends Operation ? K : never]?: C[K] extends Operation
      ? C[K]['aliases'][number] | (string & {})
      : never;
  };
}
