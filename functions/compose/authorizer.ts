/**
 * The Lambda authorizer: a request with a token that is not accepted ends here, before a function of a group runs. What
 * a user may do is not asked: API Gateway keeps the answer by the token alone, for every operation and every API key.
 */

import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import type { AuthSettings } from '../../lib/access/auth-settings.ts';
import { bearerToken, type TokenFault, type TokenVerifier, tokenFaults } from '../../lib/access/verifier.ts';
import { readAuth } from '../settings/function-settings.ts';
import { readParts } from '../settings/parts.ts';
import { composeVerifier } from './access.ts';
import type { AuthorizerPorts } from './ports.ts';
import type { Composition } from './start.ts';

/** The part of the event that is read. */
export type AuthorizerEvent = Pick<
  APIGatewayRequestAuthorizerEvent,
  'methodArn' | 'headers' | 'multiValueHeaders'
> & { readonly requestContext: Pick<APIGatewayRequestAuthorizerEvent['requestContext'], 'requestId'> };

/**
 * Resolves to a policy. Rejects when the token cannot be judged: API Gateway keeps a policy for a minute, but no failure,
 * and answers it with its response AUTHORIZER_FAILURE or AUTHORIZER_CONFIGURATION_ERROR.
 */
type TokenAuthorizer = (event: AuthorizerEvent) => Promise<APIGatewayAuthorizerResult>;

/** @param auth whose tokens are accepted */
const composeAuthorizer = (auth: AuthSettings, ports: AuthorizerPorts): TokenAuthorizer =>
  createTokenAuthorizer(composeVerifier(auth, ports), ports);

function createTokenAuthorizer(
  verifier: TokenVerifier,
  { log, clock }: Pick<AuthorizerPorts, 'log' | 'clock'>,
): TokenAuthorizer {
  return async ({ methodArn, requestContext: { requestId }, ...event }) => {
    const start = clock();
    const bearer = bearerToken(authorizationIn(event));
    const verification = bearer.ok ? await verifier.verify(bearer.token) : bearer;
    const fault = verification.ok ? undefined : verification.fault;
    log({
      level: fault === undefined ? 'info' : fault === 'issuer_unavailable' ? 'error' : 'warn',
      event: 'token',
      requestId,
      ...(fault !== undefined && { fault }),
      milliseconds: clock() - start,
    });
    if (verification.ok) return policy('Allow', methodArn, { claims: JSON.stringify(verification.claims) });
    return refusal(verification.fault, methodArn);
  };
}

/** Its name is all that Lambda logs of it. */
class NotJudged extends Error {
  override readonly name = 'NotJudged';
  constructor() {
    super('The token cannot be judged now; the log says why, as issuer_not_read or wrong_configuration.');
  }
}

function refusal(fault: TokenFault, methodArn: string): APIGatewayAuthorizerResult {
  if (fault === 'issuer_unavailable') throw new NotJudged();
  return policy('Deny', methodArn, { fault, detail: tokenFaults[fault] });
}

/** Of every line: which of two headers would count is open. */
function authorizationIn({
  headers,
  multiValueHeaders,
}: Pick<AuthorizerEvent, 'headers' | 'multiValueHeaders'>): readonly string[] {
  const named = ([name]: readonly [string, unknown]) => name.toLowerCase() === 'authorization';
  const many = Object.entries(multiValueHeaders ?? {}).filter(named);
  const single = Object.entries(headers ?? {}).filter(named);
  return (many.length > 0 ? many : single).flatMap(([, values]) => values ?? []);
}

/** For the whole stage: the policy is kept under the token, and the next request with it has another path. */
function policy(
  Effect: 'Allow' | 'Deny',
  methodArn: string,
  context: Readonly<Record<string, string>>,
): APIGatewayAuthorizerResult {
  const [api, stage] = methodArn.split('/');
  return {
    // One for all users, because API Gateway may log it, and a user's name does not belong in a log.
    principalId: 'user',
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Action: 'execute-api:Invoke', Effect, Resource: `${api}/${stage}/*` }],
    },
    context: { ...context },
  };
}

export const authorizer: Composition<AuthSettings, AuthorizerPorts, TokenAuthorizer> = {
  read: (env) => readParts(env, (parts) => readAuth(parts) ?? parts.required('AUTH')),
  compose: composeAuthorizer,
  wrong: () => () => Promise.reject(new NotJudged()),
};
