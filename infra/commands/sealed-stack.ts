/** A deployed stack with its identity key, so that an operator sees people and accounts where its tables hold sealed bytes. */

import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { createDynamoAccessStore } from '../../functions/aws/dynamo-access-store.ts';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { type AccessAdmin, createAccessAdmin } from '../../lib/access/admin.ts';
import { AccessChangeError } from '../../lib/access/change.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { ControlChangeError } from '../../lib/guard-rails/control-changes.ts';
import { StartError } from '../environment.ts';
import { print } from './print.ts';
import type { StackTarget } from './readers.ts';
import { outputOf, outputsOf, stackSecret } from './stack-secret.ts';

/** The stack's outputs that name the table of users, the key's secret and the issuer of tokens. */
export const accessTableOutput = 'AccessTable';
export const identityKeyOutput = 'IdentityKeySecretArn';
export const issuerOutput = 'AuthIssuer';

/**
 * @param table the output that names the table that the command is about
 * @param lacks what a stack without it lacks, and what opens it
 * @throws StartError when the stack or its identity key cannot be read
 */
export async function sealedStack({ stackName }: StackTarget, table: string, lacks: string) {
  const outputs = await outputsOf(stackName);
  if (!outputs.has(table))
    throw new StartError(
      `The stack ${stackName} ${lacks} in the stage (docs/configuration.md, "groups"), and deploy it.`,
    );
  const output = (name: string) => outputOf(stackName, outputs, name);
  const key = await stackSecret(stackName, output(identityKeyOutput)).read();
  if (!key) throw new StartError(`The identity key of ${stackName} is not set: deploy the stage once more.`);
  const identity = createIdentity(async () => key.text);
  // Operators have profiles and sign in once, which the AWS SDK knows how to read.
  const { credentials, region } = new CloudFormationClient().config;
  const client = createDynamoClient(undefined, { credentials, region });
  return {
    stackName,
    outputs,
    output,
    identity,
    /** Of the command's own table. */
    store: { client, tableName: output(table) },
    /** @param by the operator who changes it; absent where the command only looks */
    directory(by = ''): AccessAdmin {
      const store = createDynamoAccessStore({ client, tableName: output(accessTableOutput) });
      return createAccessAdmin({ store, identity, by });
    },
    say: print,
  };
}

const defects = [TypeError, ReferenceError, RangeError, SyntaxError];

/**
 * Of an error of AWS its name alone: a service may repeat in the message what it was sent.
 *
 * @param what cannot be read or changed
 * @param overtaken what others change at the same time
 */
export function asStartError(error: unknown, what: string, overtaken = ''): unknown {
  if (error instanceof StartError) return error;
  if (error instanceof AccessChangeError || error instanceof ControlChangeError)
    return new StartError(
      error.code === 'change_refused'
        ? `${error.message} Nothing was changed.`
        : `Others change ${overtaken} all the time; nothing was changed. Run the command again.`,
    );
  if (!(error instanceof Error) || defects.some((one) => error instanceof one)) return error;
  const reason = error.name === 'Error' ? error.message : error.name;
  return new StartError(`${what}: ${reason}.`);
}
