/** The secret source of a deployed function: AWS Secrets Manager. */

import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import type { SecretSource, SecretVersion } from '../../lib/gateway/index.ts';

export interface SecretsManagerOptions {
  /** The secret's ARN or name. */
  readonly secretId: string;
  /** Replaces the Region's endpoint; without it, the client reads AWS_ENDPOINT_URL itself. */
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

/** @example const secrets = createSecretsManagerSource({ secretId: 'arn:aws:secretsmanager:…' }); */
export function createSecretsManagerSource(options: SecretsManagerOptions): SecretSource {
  const { secretId, endpoint, timeoutMs = 2000, onFailure } = options;
  const client = new SecretsManagerClient({
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      // Without this option, the client only warns after its time-out, and continues to wait.
      throwOnRequestTimeout: true,
      // The secret is read every few minutes, with the function frozen in between, so a kept connection would be dead.
      httpsAgent: { keepAlive: false },
    },
    ...(endpoint !== undefined && { endpoint }),
  });
  return {
    async read(version = 'current') {
      try {
        const { SecretString: text, SecretBinary: bytes } = await client.send(
          new GetSecretValueCommand({ SecretId: secretId, VersionStage: stages[version] }),
        );
        return text ?? (bytes && new TextDecoder().decode(bytes));
      } catch (error) {
        // No version has this label: the secret was created, but never set.
        if (error instanceof ResourceNotFoundException) return undefined;
        onFailure?.(error, version);
        throw error;
      }
    },
  };
}
