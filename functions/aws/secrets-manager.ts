/** The secret source of a deployed function: AWS Secrets Manager. */

import type { SecretSource, SecretVersion } from '../../lib/gateway/index.ts';
import { jitteredMs, sleep } from '../../lib/kernel/pauses.ts';
import { mayPass } from './dynamo-client.ts';
import { createAwsClient, type DynamoClientOptions, refusesSignature } from './dynamo-http.ts';

export interface SecretsManagerOptions extends Pick<DynamoClientOptions, 'credentials' | 'region'> {
  /** The secret's ARN or name. */
  readonly secretId: string;
  /** Replaces AWS_ENDPOINT_URL_SECRETS_MANAGER, AWS_ENDPOINT_URL and the Region's own. */
  readonly endpoint?: string;
  /** Time limit of one attempt of two. Default 2 seconds, because the waiting client has a deadline, too. */
  readonly timeoutMs?: number;
  /** Called for every failed read. */
  readonly onFailure?: (error: unknown, version: SecretVersion) => void;
}

const stages = { current: 'AWSCURRENT', previous: 'AWSPREVIOUS' } as const satisfies Record<
  SecretVersion,
  string
>;

/** Pause before the second attempt. */
const pause = { firstMs: 100, maxMs: 100 };

/** @example const secrets = createSecretsManagerSource({ secretId: 'arn:aws:secretsmanager:…' }); */
export function createSecretsManagerSource(options: SecretsManagerOptions): SecretSource {
  const { secretId, endpoint, timeoutMs = 2000, onFailure } = options;
  const client = createAwsClient('secretsmanager', endpoint, options);

  async function attempt(version: SecretVersion) {
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(new DOMException('no answer in time', 'TimeoutError')),
      timeoutMs,
    );
    const input = { SecretId: secretId, VersionStage: stages[version] };
    try {
      return await client.send('GetSecretValue', input, { abortSignal: late.signal });
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async read(version = 'current') {
      try {
        const secret = await attempt(version).catch(async (error: Error) => {
          if (!mayPass(error) && !refusesSignature.test(error.name)) throw error;
          await sleep(jitteredMs(pause, 0, Math.random));
          return attempt(version);
        });
        const { SecretString: text, SecretBinary: base64 } = secret as Readonly<Record<string, string>>;
        return text ?? (base64 && new TextDecoder().decode(Buffer.from(base64, 'base64')));
      } catch (error) {
        // No version has this label: the secret was created, but never set.
        if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined;
        onFailure?.(error, version);
        throw error;
      }
    },
  };
}
