/** What an operator does by `countersign users`: changes the deployed table, under the deployed identity key. */

import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { createDynamoAccessStore } from '../../functions/aws/dynamo-access-store.ts';
import { createDynamoControlAdmin } from '../../functions/aws/dynamo-control-admin.ts';
import { type AccessAdmin, createAccessAdmin } from '../../lib/access/admin.ts';
import type { Principal } from '../../lib/access/evidence.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { scopes } from '../../lib/catalogue/scopes.ts';
import { type ControlAdmin, createControlAdmin } from '../../lib/guard-rails/index.ts';
import { clientConfig, dynamoOf } from './deployment.ts';
import type { Stage } from './stage.ts';

export async function identityKeyOf({
  emulator,
  outputs,
}: Pick<Stage, 'emulator' | 'outputs'>): Promise<string> {
  const client = new SecretsManagerClient(clientConfig(emulator));
  const command = new GetSecretValueCommand({ SecretId: outputs.IdentityKeySecretArn });
  return (await client.send(command)).SecretString ?? '';
}

export async function operatorOf(stage: Stage): Promise<AccessAdmin> {
  const key = await identityKeyOf(stage);
  return createAccessAdmin({
    store: createDynamoAccessStore({
      client: dynamoOf(stage.emulator),
      tableName: stage.outputs.AccessTable ?? '',
    }),
    identity: createIdentity(async () => key),
    by: 'arn:aws:iam::000000000000:root',
  });
}

/** Of what trading may do: what `countersign trading` does. */
export async function tradingOperatorOf({ emulator, outputs }: Stage): Promise<ControlAdmin> {
  const key = await identityKeyOf({ emulator, outputs });
  return createControlAdmin({
    store: createDynamoControlAdmin({
      client: dynamoOf(emulator),
      tableName: outputs.TradingControlsTable ?? '',
    }),
    identity: createIdentity(async () => key),
    by: 'operator',
  });
}

/** Whom the emulator takes its own access key for. */
export const emulatorIdentity: Principal = { kind: 'iam', arn: 'arn:aws:iam::000000000000:root' };

/** Lets those who sign with the emulator's access key do everything, as an operator lets a role of its own. */
export async function grantEverything(stage: Stage): Promise<void> {
  const operator = await operatorOf(stage);
  await operator.apply({
    action: 'grant',
    subject: emulatorIdentity,
    accounts: ['*'],
    userData: true,
    scopes,
  });
}
