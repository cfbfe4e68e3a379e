/**
 * Why a request cannot be signed. A request that the algorithm cannot carry faithfully is refused: a wrong
 * signature would come back as the upstream's 401 and say nothing of the cause.
 */

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

export class SignError extends Error {
  readonly code: SignErrorCode;
  constructor(code: SignErrorCode, detail: string) {
    super(detail);
    this.name = 'SignError';
    this.code = code;
  }
}
