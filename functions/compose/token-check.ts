/**
 * The scheduled check of the access token: what it finds is one line in the log, with the metric that the stack's alarm
 * looks at.
 */

import { createTokenCalls, TokenCallError } from '../../lib/access-token/calls.ts';
import { checkAccessToken, noEndDays, type TokenReport } from '../../lib/access-token/check.ts';
import { toCredential } from '../../lib/gateway/credential.ts';
import { figuresOf } from '../log/metrics.ts';
import { readParts, type UpstreamSettings } from '../settings/parts.ts';
import { composeAppSecret } from './credential.ts';
import type { SecretPorts } from './ports.ts';
import type { Composition } from './start.ts';

type TokenCheckHandler = () => Promise<TokenReport>;

/**
 * The handler rejects when nothing could be found out: Lambda then tries again, and counts an error, which the other
 * alarm looks at. Neither its report nor its error holds anything of the secret.
 */
function composeTokenCheck(settings: UpstreamSettings, ports: SecretPorts): TokenCheckHandler {
  const { baseUrl, paths, timeoutMs, secretId } = settings;
  const { log, clock, functionName } = ports;
  const source = composeAppSecret(secretId, ports);
  const failed = (reason: string): never => {
    log({ level: 'error', event: 'token_not_checked', reason });
    throw new Error(notChecked);
  };
  return async () => {
    // Read each time: another token may have come since.
    const text = await source.read().catch(() => failed('secret_unavailable'));
    const secret = toCredential(text, { clock });
    if (!secret.ok) return failed(secret.code);
    const { credential } = secret;
    const calls = createTokenCalls({
      baseUrl,
      credential,
      paths,
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    const report = await checkAccessToken({ token: credential.accessToken, calls, clock }).catch((error) => {
      if (error instanceof TokenCallError) return failed(error.message);
      throw error;
    });
    log({
      level: report.result === 'normal' || report.result === 'not_needed' ? 'info' : 'error',
      event: 'access_token',
      ...report,
      ...figuresOf('Function', functionName, clock(), { TokenDaysLeft: report.daysLeft ?? noEndDays }),
    });
    return report;
  };
}

const notChecked =
  'The access token could not be checked; the log says why, as token_not_checked or wrong_configuration.';

export const tokenCheck: Composition<UpstreamSettings, SecretPorts, TokenCheckHandler> = {
  // Without the limiter: a few calls in hours.
  read: (env) => readParts(env, (parts) => parts.required('UPSTREAM')),
  compose: composeTokenCheck,
  wrong: () => () => Promise.reject(new Error(notChecked)),
};
