/** The same with the AWS client, however ours read the secret. */

import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { oneCall } from './one-call.ts';

const client = new SecretsManagerClient({ maxAttempts: 2 });

export const handler = oneCall(async (SecretId) => {
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId }));
  return SecretString;
});
