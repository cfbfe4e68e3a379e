/**
 * The canary asks the API for a quote, by its name and with a key of its own. So it notices what no function can tell of itself:
 * that the name, the certificate, the key or the way through API Gateway is gone.
 */

import { type CanarySettings, readParts } from '../settings/parts.ts';
import type { CanaryPorts } from './ports.ts';
import type { Composition } from './start.ts';

type CanaryHandler = () => Promise<{ readonly status: number }>;

/** Less than its function has. */
export const canaryTimeoutMs = 20_000;
const maxAnswerBytes = 1_000_000;

/** The handler rejects where a client would have got no quote, which Lambda counts as an error. */
function composeCanary({ url, keySecretId }: CanarySettings, ports: CanaryPorts): CanaryHandler {
  const { log, clock, send, secret } = ports;
  const failed = (found: object): never => {
    log({ level: 'error', event: 'canary', ...found });
    throw new Error(noQuote);
  };
  const keys = secret(keySecretId, () => {});
  return async () => {
    const key = await keys.read('current').catch(() => undefined);
    if (key === undefined) return failed({ result: 'key_unavailable' });
    const askedAt = clock();
    const answer = await send(
      { method: 'GET', url, headers: { 'x-api-key': key } },
      { timeoutMs: canaryTimeoutMs, maxBytes: maxAnswerBytes, freshConnection: true },
    );
    const milliseconds = Math.round(clock() - askedAt);
    if (answer.kind !== 'answer') return failed({ result: answer.kind, milliseconds });
    const { status } = answer;
    if (status !== 200) return failed({ result: 'refused', status, milliseconds });
    log({ level: 'info', event: 'canary', result: 'answered', status, milliseconds });
    return { status };
  };
}

const noQuote = 'The API gave the canary no quote; the log says why, as canary or wrong_configuration.';

export const canary: Composition<CanarySettings, CanaryPorts, CanaryHandler> = {
  read: (env) => readParts(env, (parts) => parts.required('CANARY')),
  compose: composeCanary,
  wrong: () => () => Promise.reject(new Error(noQuote)),
};
