/** Opens a deployed stack's tables with its identity key: without the key, people and accounts in them are sealed bytes. */

import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { createDynamoAccessStore } from '../../functions/aws/dynamo-access-store.ts';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { type AccessAdmin, createAccessAdmin } from '../../lib/access/admin.ts';
import { AccessChangeError } from '../../lib/access/change.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { ControlChangeError } from '../../lib/guard-rails/control-changes.ts';
import { DecisionRefused } from '../../lib/orders/decide.ts';
import { StartError } from '../environment.ts';
import type { StackTarget } from './readers.ts';
import { outputOf, outputsOf, stackSecret } from './stack-secret.ts';

/** Stack outputs that name the table of users, the key's secret and the issuer of tokens. */
export const accessTableOutput = 'AccessTable';
const identityKeyOutput = 'IdentityKeySecretArn';
export const issuerOutput = 'AuthIssuer';

/**
 * @param table the output that names the command's own table
 * @param lacks words on what a stack without that output lacks, and what opens it
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
  // Takes the credentials of the AWS SDK, which knows profiles and sign-in.
  const { credentials, region } = new CloudFormationClient().config;
  const client = createDynamoClient(undefined, { credentials, region });
  return {
    stackName,
    outputs,
    output,
    identity,
    /** Issuer of access tokens; undefined if the stack accepts none. */
    issuer: outputs.get(issuerOutput),
    /** Table of the command. */
    store: { client, tableName: output(table) },
    /** @param by the operator who makes a change; absent when the command only reads */
    directory(by = ''): AccessAdmin {
      const store = createDynamoAccessStore({ client, tableName: output(accessTableOutput) });
      return createAccessAdmin({ store, identity, by });
    },
  };
}

/** Sentences already, and defects, whose stack is wanted. */
const ownErrors = [StartError, TypeError, ReferenceError, RangeError, SyntaxError];

/**
 * Does a command's work, and makes a sentence of its error. AWS's messages are left out, because they may repeat what was sent.
 *
 * @param what completes the sentence, such as 'The users of … cannot be read'
 * @param overtaken names the record that others change at the same time
 */
export async function inSentences<T>(work: () => Promise<T>, what: string, overtaken = ''): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DecisionRefused) throw new StartError(`Nothing was decided. ${error.message}`);
    if (error instanceof AccessChangeError || error instanceof ControlChangeError)
      throw new StartError(
        error.code === 'change_refused'
          ? `${error.message} Nothing was changed.`
          : `Others change ${overtaken} all the time; nothing was changed. Run the command again.`,
      );
    if (!(error instanceof Error) || ownErrors.some((one) => error instanceof one)) throw error;
    throw new StartError(`${what}: ${error.name === 'Error' ? error.message : error.name}.`);
  }
}
