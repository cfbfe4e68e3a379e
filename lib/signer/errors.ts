/**
 * The library's errors: their base, which stands here because the signer imports nothing from outside its folder,
 * and the signer's own. A request that the algorithm cannot carry faithfully is refused before it is signed: a
 * wrong signature would come back as the upstream's 401, which does not name the cause.
 */

/**
 * Base of every error class of this library. `code` is stable and meant for a `switch`; `message` is text for
 * people and may change. An argument that is wrong by itself (an option, a text that is no decimal) is a
 * `TypeError` or a `RangeError` instead: a defect of the calling program, which no code handles.
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
  /** @param options what the error follows from, as `cause` */
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
  /** The body is neither text nor a value that JSON can hold. */
  | 'invalid_body'
  /** Half of a surrogate pair: it has no UTF-8 form. */
  | 'lone_surrogate'
  /** The clock or the nonce source gave something that cannot be sent. */
  | 'invalid_nonce_or_time';

/** Why a request cannot be signed; nothing was sent. */
export class SignError extends CountersignError<SignErrorCode> {
  override readonly name = 'SignError';
}
