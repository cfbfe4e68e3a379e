/**
 * As much of Secrets Manager's HTTP interface as GetSecretValue needs. The real client talks to it, so that
 * its own retries and time limits are part of what is tested. Of DynamoDB it has as much as a directory of users needs, and
 * in every other table nothing.
 */

import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createAccessAdmin } from '../../lib/access/admin.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { createMemoryAccessStore } from '../../lib/access/store.ts';
import { scopes } from '../../lib/catalogue/scopes.ts';
import type { DynamoTables } from '../world/dynamo-tables.ts';
import { listening } from './upstreams.ts';

export type StubFault = 'down' | 'denied' | 'hang' | 'no-secret';

export interface SecretsManagerStub {
  readonly url: string;
  readonly secretId: string;
  /** The stages that were asked for, one for each request. */
  readonly requests: readonly string[];
  set(text: string): void;
  setBinary(bytes: Uint8Array): void;
  /** Until it is set again; undefined is none. */
  setFault(fault: StubFault | undefined): void;
  close(): Promise<void>;
}

type Value = { readonly SecretString: string } | { readonly SecretBinary: string };

/** Which the stub has besides, whatever its fault: a key, and a table in which one identity may do everything. */
export const identityKeyId = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:identity-key';
export const identityKey = 'identity-key-of-the-stub-0123456789abcdef';
export const usersTable = 'users';
export const operatorArn = 'arn:aws:iam::000000000000:role/operator';

async function everybody() {
  const store = createMemoryAccessStore();
  const admin = createAccessAdmin({ store, identity: createIdentity(async () => identityKey), by: 'test' });
  const subject = { kind: 'iam', arn: operatorArn } as const;
  await admin.apply({ action: 'grant', subject, accounts: ['*'], userData: true, scopes });
  const items = (await store.list()).map(({ key, revision, sealed }) => ({
    pk: { S: key },
    sk: { S: 'record' },
    revision: { S: revision },
    sealed: { B: Buffer.from(sealed).toString('base64') },
  }));
  return { items };
}

/**
 * @param tls a certificate for `localhost`, where it is asked as AWS is
 * @param tables holds every table besides the users
 */
export async function startSecretsManagerStub(
  tls?: { readonly key: string; readonly cert: string },
  tables?: () => DynamoTables,
): Promise<SecretsManagerStub> {
  const secretId = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:stub-AbCdEf';
  const requests: string[] = [];
  const users = await everybody();
  let fault: StubFault | undefined;
  let values: { readonly AWSCURRENT?: Value; readonly AWSPREVIOUS?: Value } = {};
  const set = (value: Value) => {
    values = { AWSCURRENT: value, ...(values.AWSCURRENT && { AWSPREVIOUS: values.AWSCURRENT }) };
  };

  const answer: RequestListener = async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const input = JSON.parse(text);
    const { SecretId, VersionStage = 'AWSCURRENT' } = input as Record<string, string>;
    const say = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
    const [, operation = ''] = /^DynamoDB_20120810\.(\w+)$/.exec(`${request.headers['x-amz-target']}`) ?? [];
    if (operation === 'BatchGetItem' && (!tables || usersTable in input.RequestItems))
      return say(200, { Responses: { [usersTable]: users.items } });
    if (operation && tables)
      return tables()
        .send(operation, input)
        .then(
          (found) => say(200, found),
          (error) => say(error.$metadata?.httpStatusCode ?? 500, { ...error, __type: `stub#${error.name}` }),
        );
    if (operation === 'Query') return say(200, { Items: [] });
    if (SecretId === identityKeyId) return say(200, { SecretString: identityKey });
    const refuse = (status: number, type: string) => say(status, { __type: type, Message: `stub: ${type}` });
    // Another service under the same address.
    if (request.headers['x-amz-target'] !== 'secretsmanager.GetSecretValue')
      return refuse(400, 'UnknownOperationException');
    requests.push(VersionStage);
    if (fault === 'hang') return;
    if (fault === 'down') return refuse(500, 'InternalServiceError');
    if (fault === 'denied') return refuse(400, 'AccessDeniedException');
    const value = values[VersionStage as keyof typeof values];
    if (fault === 'no-secret' || SecretId !== secretId || !value)
      return refuse(400, 'ResourceNotFoundException');
    return say(200, { ARN: secretId, Name: 'stub', VersionStages: [VersionStage], ...value });
  };
  const server = tls ? createTlsServer(tls, answer) : createServer(answer);
  const port = await listening(server);
  return {
    url: tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    secretId,
    requests,
    set: (text) => set({ SecretString: text }),
    setBinary: (bytes) => set({ SecretBinary: Buffer.from(bytes).toString('base64') }),
    setFault(value) {
      fault = value;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** What the AWS client takes from a function's environment. */
export const awsEnvironment = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
};
