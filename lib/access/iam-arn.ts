/** One name for an AWS identity, however AWS writes it. */

/**
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
