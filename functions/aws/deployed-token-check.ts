/**
 * The scheduled check of the access token, as it is deployed: what it finds is one line in the log, with the metric that
 * the stack's alarm looks at.
 */

import { createTokenCalls, TokenCallError } from '../../lib/access-token/calls.ts';
import { checkAccessToken, type TokenReport } from '../../lib/access-token/check.ts';
import { listAccounts } from '../../lib/catalogue/accounts.ts';
import { checkToken } from '../../lib/catalogue/auth.ts';
import { getConfig } from '../../lib/catalogue/config.ts';
import { toCredential } from '../../lib/gateway/credential.ts';
import { embeddedMetrics } from './emf.ts';
import { type Environment, readFunctionSettings } from './environment.ts';
import { describe, type Log, writeLog } from './log.ts';
import { createSecretsManagerSource } from './secrets-manager.ts';

export type TokenCheckHandler = () => Promise<TokenReport>;

const units = { TokenDaysLeft: 'Count' } as const;

/**
 * The handler rejects when nothing could be found out: Lambda then tries again, and counts an error, which the other
 * alarm looks at. Neither its report nor its error holds anything of the secret.
 */
export function deployedTokenCheck(
  env: Environment = process.env,
  log: Log = writeLog,
  clock: () => number = Date.now,
): TokenCheckHandler {
  const read = readFunctionSettings(env, [checkToken, getConfig, listAccounts]);
  if (!read.ok) {
    log({ level: 'error', event: 'wrong_configuration', faults: read.faults });
    return () => Promise.reject(new Error(notChecked));
  }
  const {
    upstreamBaseUrl: baseUrl,
    upstreamPaths: paths,
    upstreamTimeoutMs: timeoutMs,
    secretId,
  } = read.settings;
  const source = createSecretsManagerSource({
    secretId,
    onFailure: (error, version) =>
      log({ level: 'error', event: 'secret_not_read', version, ...describe(error) }),
  });
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
      ...(paths && { paths: definedOf(paths) }),
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
      ...(report.daysLeft !== undefined &&
        embeddedMetrics(units, {
          dimensions: { Function: env.AWS_LAMBDA_FUNCTION_NAME ?? '' },
          at: clock(),
          values: { TokenDaysLeft: report.daysLeft },
        })),
    });
    return report;
  };
}

const notChecked =
  'The access token could not be checked; the log says why, as token_not_checked or wrong_configuration.';

const definedOf = (paths: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(paths).flatMap(([id, path]) => (path === undefined ? [] : [[id, path]])));
