/**
 * Base class of the library's errors, and the signer's own error. The base stands here because the signer imports
 * nothing from outside its folder. A request that the algorithm cannot carry faithfully is refused before it is
 * signed: the upstream would answer a wrong signature with a 401 that does not name the cause.
 */

/**
 * Base of every error class of this library. `code` is stable and meant for a `switch`; `message` is text for
 * people and may change. An argument that is wrong by itself (an option, a text that is no decimal) throws a
 * `TypeError` or a `RangeError` instead: it is a defect of the calling program, which no program handles.
 *
 * @example
 * try {
 *   await client.placeOrder(order);
 * } catch (error) {
 *   if (!(error instanceof CountersignError)) throw error;
 *   if (error.code === 'outcome_unknown') await lookUp(order);
 * }
 */
export abstract class CountersignError<Code extends string = string> extends Error {
  readonly code: Code;
  /** @param options carries the error that led to this one, as `cause` */
  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export type SignErrorCode =
  /** The app key or secret is empty, or cannot travel in a header or key. */
  | 'invalid_credentials'
  /** Not an absolute URL, or neither `https:` nor a loopback address. */
  | 'invalid_url'
  /** The path has a character that is signed in one form and sent in another (space, `%`, non-ASCII …). */
  | 'path_not_plain'
  /** Not GET or POST, or a GET with a body. */
  | 'invalid_method'
  /** A value of the query is neither a text, a finite number nor a boolean, nor a list of these. */
  | 'invalid_query'
  /** The body is neither text nor a value that JSON can hold as it is: `NaN`, a map and a function would change. */
  | 'invalid_body'
  /** Half of a surrogate pair: it has no UTF-8 form. */
  | 'lone_surrogate'
  /** The clock or the nonce source returned something that cannot be sent. */
  | 'invalid_nonce_or_time';

/** Why a request cannot be signed; nothing was sent. */
export class SignError extends CountersignError<SignErrorCode> {
  override readonly name = 'SignError';
}
