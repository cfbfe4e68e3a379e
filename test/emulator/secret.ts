/** Sets the deployed secret as the operator's command does. */

import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { clientConfig } from './deployment.ts';
import { canary, type Stage } from './stage.ts';

export async function putSecret({ emulator, outputs }: Stage, credentials = canary): Promise<void> {
  await new SecretsManagerClient(clientConfig(emulator)).send(
    new PutSecretValueCommand({
      SecretId: outputs.SecretArn,
      SecretString: JSON.stringify({ app_key: credentials.appKey, app_secret: credentials.appSecret }),
    }),
  );
}
