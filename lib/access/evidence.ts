/** What a request shows of its sender, and whom that stands for. */

/**
 * What the platform has found out about the sender. It has checked the API key and the AWS signature; a bearer token in
 * the request's headers is checked by the authorizer in front, which leaves `claims`, or else by the gateway.
 */
export interface SenderEvidence {
  /** The id, not the value, of the API key. */
  readonly apiKeyId?: string;
  /** The ARN of the AWS identity that signed; of an assumed role, the role's, without the session. */
  readonly iamArn?: string;
  /** Of a token that an authorizer in front has verified. */
  readonly claims?: TokenClaims;
  /** Who put a request by event on the bus, as the bus reports it. */
  readonly eventSource?: string;
}

/** What of a verified access token is read. Times are Unix time in seconds, as in the token. */
export interface TokenClaims {
  readonly issuer: string;
  readonly subject: string;
  /** The app that the issuer gave the token to: `client_id`, or `azp`. */
  readonly clientId?: string;
  /** `jti`. */
  readonly tokenId?: string;
  /** As the issuer writes them. */
  readonly scopes: readonly string[];
  /** Present where the deployer lets a claim say which accounts a user has. */
  readonly accounts?: readonly string[];
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** One who can have rights. In every store and log its name stands as a keyed hash only. */
export type Principal =
  | { readonly kind: 'user'; readonly issuer: string; readonly subject: string }
  | { readonly kind: 'key'; readonly id: string }
  | { readonly kind: 'iam'; readonly arn: string }
  | { readonly kind: 'source'; readonly name: string };

/**
 * One name for an AWS identity, however AWS writes it.
 *
 * Of an assumed role the role's ARN, without the session and without a path: AWS reports the caller as a session, whose
 * ARN has no path, and operators know the role. Role names are unique in an account. Any other ARN is as it was.
 *
 * @example
 * principalArn('arn:aws:sts::123456789012:assumed-role/traders/i-0abc'); // 'arn:aws:iam::123456789012:role/traders'
 */
export function principalArn(arn: string): string {
  const session = /^arn:(aws[\w-]*):sts::(\d{12}):assumed-role\/([^/]+)\/[^/]+$/.exec(arn);
  const role = session ?? /^arn:(aws[\w-]*):iam::(\d{12}):role\/(?:.+\/)?([^/]+)$/.exec(arn);
  return role ? `arn:${role[1]}:iam::${role[2]}:role/${role[3]}` : arn;
}
