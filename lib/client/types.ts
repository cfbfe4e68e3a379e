/** The client's types, all of them derived from the catalogue's entries. */

import type { GenericSchema, InferInput, InferOutput } from 'valibot';
import type { Operation, Paging } from '../catalogue/operation.ts';

/**
 * The catalogue's objects are loose: at run time they accept further members. In types that openness
 * (`[key: string]: unknown`) would accept every misspelling too, so it is removed. A record's own signature, such
 * as price to volume, stays.
 */
type NamedKey<T, K extends keyof T> = string extends K ? (unknown extends T[K] ? never : K) : K;

/** The type of an argument: as the schema takes it, and readonly throughout. */
export type Given<T> = T extends readonly (infer I)[]
  ? readonly Given<I>[]
  : T extends Date
    ? T
    : T extends object
      ? { readonly [K in keyof T as NamedKey<T, K>]: Given<T[K]> }
      : T;

/** The type of a result: the members that the catalogue names. There may be more at run time. */
export type Got<T> = T extends readonly (infer I)[]
  ? Got<I>[]
  : T extends object
    ? { [K in keyof T as NamedKey<T, K>]: Got<T[K]> }
    : T extends string
      ? OpenEnumeration<T>
      : T;

/** Values of an enumeration, for the editor to complete; the upstream may send others. */
type OpenEnumeration<T extends string> = string extends T ? T : T | (string & {});

/** The type of `{}`: a type that it extends requires no member. */
type Nothing = Record<never, never>;

type Flat<T> = { [K in keyof T]: T[K] };

/** An object without members: `{}` would take anything. */
type NoMembers = { readonly [name: string]: never };

/** Parameters that no source names. */
export type AnyQuery = {
  readonly [name: string]: string | number | boolean | readonly (string | number)[] | null | undefined;
};

type Queries = Operation['query'];
type Named<Q extends Queries> = Flat<
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

/** What the built package declares of an entry, in names and with hover text, in place of what is derived here. */
export interface Declaration<Id, Query, Body, Result, Call> {
  /** Another entry may be made of this one, with other types. */
  readonly id: Id;
  readonly query: Query;
  readonly body: Body;
  readonly result: Result;
  readonly call: Call;
}

/** A part of the declaration; `never` where there is none. The member does not exist at run time. */
type Declared<O extends Operation, K extends keyof AnyDeclaration> = '~client' extends keyof O
  ? Extract<O['~client'], { readonly id: O['id'] } & AnyDeclaration>[K]
  : never;
type AnyDeclaration = Declaration<unknown, unknown, unknown, unknown, unknown>;

type Either<Declared, Derived> = [Declared] extends [never] ? Derived : Declared;

/** The query parameters of an operation, by name. */
export type QueryOf<O extends Operation> = Either<Declared<O, 'query'>, DerivedQuery<O>>;

type DerivedQuery<O extends Operation> = O extends { readonly anyQuery: true }
  ? Named<O['query']> & AnyQuery
  : keyof O['query'] extends never
    ? NoMembers
    : Named<O['query']>;

/** The body of an operation; `never` where it takes none. */
export type BodyOf<O extends Operation> = O extends { readonly body: infer S extends GenericSchema }
  ? Either<Declared<O, 'body'>, Given<InferInput<S>>>
  : never;

/** The answer's payload. It may have a value outside an enumeration: the client never refuses an answer. */
export type ResultOf<O extends Operation> = Either<Declared<O, 'result'>, Got<InferOutput<O['response']>>>;

type List<T> = T extends readonly (infer I)[] ? I : never;

/** A record of a page. */
export type ItemOf<O extends Operation> = O extends { readonly paging: { readonly items: infer M } }
  ? M extends keyof ResultOf<O>
    ? List<NonNullable<ResultOf<O>[M]>>
    : never
  : List<ResultOf<O>>;

/** The options of every call. */
export interface CallOptions {
  /**
   * Ends the call. A read rejects with the signal's reason. A request with a side effect cannot be revoked once
   * it is sent: it rejects with OutcomeUnknownError, whose cause is the reason.
   */
  readonly signal?: AbortSignal | undefined;
  /** To the last byte of the answer, instead of the client's time-out. `Infinity` is none. */
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

/** A change that a gateway knows by the key of its client: every one but placing orders, which have their own ids. */
export interface KeyOption {
  /**
   * Names this change for a gateway: within 24 hours it executes one request with this key and these contents, however
   * often it comes, and refuses other contents with `idempotency_conflict`. Only for a client behind a gateway.
   */
  readonly idempotencyKey?: string | undefined;
}

type KeyOptionOf<O extends Operation> = O extends {
  readonly sideEffect: { readonly journal: { readonly by: 'idempotency-key' } };
}
  ? KeyOption
  : unknown;

/**
 * The options of this operation: also its headers where the catalogue names some, the query beside a body, and the key of
 * a change.
 */
export type OptionsOf<O extends Operation> = Flat<
  CallOptions & QueryOption<O> & HeadersOption<O> & KeyOptionOf<O>
>;

/** The body where there is one, else the query parameters. */
export type InputOf<O extends Operation> = BodyOf<O> extends never ? QueryOf<O> : BodyOf<O>;

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
  /** In a browser only the headers that the other end exposes. */
  readonly headers: Headers;
  /** Names the call to the operator of the other end. */
  readonly requestId?: string;
  /**
   * True where a gateway sent nothing for this call, or lost its answer: the data says what became of the first request of
   * the same id or key. In a browser only where the gateway exposes its headers.
   */
  readonly isReplayed: boolean;
}

export interface Call<O extends Operation> {
  (...given: Arguments<O>): Promise<ResultOf<O>>;
  /** The same call, with text, status and headers in the result. */
  answer(...given: Arguments<O>): Promise<Answer<ResultOf<O>>>;
}

export interface PagedCall<O extends Operation> extends Call<O> {
  /**
   * Each page unchanged, from the first or from the given cursor to the last. Options count for each page.
   * @throws BrokenAnswerError when a cursor leads back to an earlier page
   */
  pages(...given: Arguments<O>): AsyncGenerator<ResultOf<O>, void, undefined>;
  /** The records of all pages. A record at the end of a page and the start of the next is given once. */
  items(...given: Arguments<O>): AsyncGenerator<ItemOf<O>, void, undefined>;
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
  /** For each call, to the last byte of the answer, in milliseconds. Default 15 000; `Infinity` is none. */
  readonly timeoutMs?: number;
  /** Where an operation is called instead of at its entry's `path`: one of its aliases, or a newer one. */
  readonly paths?: {
    readonly [K in keyof C as C[K] extends Operation ? K : never]?: C[K] extends Operation
      ? C[K]['aliases'][number] | (string & {})
      : never;
  };
}
