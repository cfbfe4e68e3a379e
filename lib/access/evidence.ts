/** Proof of a request's sender, and the principals that it can prove. */

/**
 * Facts about the sender that the platform has verified: the API key and the AWS signature. A bearer token in the request's
 * headers is checked by an authorizer in front, which passes `claims` on, or else by the gateway.
 */
export interface SenderEvidence {
  /** The id, not the value, of the API key. */
  readonly apiKeyId?: string;
  /** ARN of the AWS identity that signed; for an assumed role, the ARN of the role, without the session. */
  readonly iamArn?: string;
  /** Claims of a token that an authorizer in front has verified. */
  readonly claims?: TokenClaims;
  /** Sender of a request by event, as the bus reports it. */
  readonly eventSource?: string;
}

/** Claims that are read from a verified access token. Times are Unix time in seconds, as in the token. */
export interface TokenClaims {
  readonly issuer: string;
  readonly subject: string;
  /** App that the issuer gave the token to: `client_id`, or `azp`. */
  readonly clientId?: string;
  /** The claim `jti`. */
  readonly tokenId?: string;
  /** Scopes as the issuer writes them. */
  readonly scopes: readonly string[];
  /** Present if the deployer has named a claim that lists a user's accounts. */
  readonly accounts?: readonly string[];
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** A holder of rights. In every store and log its name stands as a keyed hash only. */
export type Principal =
  | { readonly kind: 'user'; readonly issuer: string; readonly subject: string }
  | { readonly kind: 'key'; readonly id: string }
  | { readonly kind: 'iam'; readonly arn: string }
  | { readonly kind: 'source'; readonly name: string };

/**
 * Converts the ARN of an AWS identity to one form, however AWS writes it.
 *
 * The result for an assumed role is the role's ARN, without the session and without a path: AWS reports the caller as a
 * session, whose ARN has no path, and operators know the role. Role names are unique in an account. Any other ARN stays.
 *
 * @example
 * principalArn('arn:aws:sts::123456789012:assumed-role/traders/i-0abc'); // 'arn:aws:iam::123456789012:role/traders'
 */
export function principalArn(arn: string): string {
  const session = /^arn:(aws[\w-]*):sts::(\d{12}):assumed-role\/([^/]+)\/[^/]+$/.exec(arn);
  const role = session ?? /^arn:(aws[\w-]*):iam::(\d{12}):role\/(?:.+\/)?([^/]+)$/.exec(arn);
  return role ? `arn:${role[1]}:iam::${role[2]}:role/${role[3]}` : arn;
}
