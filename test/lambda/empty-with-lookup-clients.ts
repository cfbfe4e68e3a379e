/** The least that a function with the AWS clients of lookups can be: what the function of lookups is measured against. */

import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { createDynamoClient } from '../../functions/aws/dynamo-http.ts';

const secrets = new SecretsManagerClient({ maxAttempts: 2 });
const table = createDynamoClient();
const bus = new EventBridgeClient({ maxAttempts: 2 });

export const handler = async ({ id }: { readonly id?: string }) => {
  if (id) {
    await secrets.send(new GetSecretValueCommand({ SecretId: id }));
    await table.send('UpdateItem', { TableName: id, Key: { pk: { S: id } } });
    await bus.send(new PutEventsCommand({ Entries: [] }));
    await new SQSClient({ maxAttempts: 3 }).send(new SendMessageBatchCommand({ QueueUrl: id, Entries: [] }));
  }
  return { statusCode: 404, body: '' };
};
