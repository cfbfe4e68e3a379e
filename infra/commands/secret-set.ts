/**
 * `npm run secret:set`: puts the app key and secret, read from standard input, into the stack's secret.
 * Never an argument and never a variable: both can be read by other processes, and shells keep them.
 */

import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { createCredentials } from '../../lib/gateway/credentials.ts';
import { StartError } from '../environment.ts';
import { stackNameOf } from '../stack/stages.ts';

/** The stack's output that names its secret. */
export const secretOutput = 'SecretArn';

export const usage =
  'Usage: npm run secret:set -- [stage] < secret.json (a stage has 1 to 32 lower-case letters, digits and -, a letter first)';

/**
 * Takes stages that stages.ts does not have, too: a stack outlives its entry there.
 *
 * @throws StartError that does not repeat the arguments: one may be the secret, given here by mistake
 */
export function stackNameFrom([stage = 'dev', ...rest]: readonly string[]): string {
  if (rest.length > 0 || !/^[a-z][a-z0-9-]{0,31}$/.test(stage)) throw new StartError(usage);
  return stackNameOf(stage);
}

/** @throws StartError for a text that the gateway could not use; the text is not repeated in it */
export async function usableSecret(text: string): Promise<string> {
  const secret = text.trim();
  const result = await createCredentials({ source: { read: async () => secret }, clock: Date.now }).current();
  if (result.ok) return secret;
  throw new StartError(
    'Standard input must be {"app_key": "…", "app_secret": "…"}, with an optional "access_token"; nothing was changed.',
  );
}

/**
 * Endpoint, Region and credentials come from the environment, as for every AWS command.
 *
 * @throws StartError when the stack cannot be read or its secret not be written
 */
export async function setSecret(stackName: string, secret: string): Promise<void> {
  const SecretId = await secretOf(stackName);
  await new SecretsManagerClient()
    .send(new PutSecretValueCommand({ SecretId, SecretString: secret }))
    .catch((error: Error) => {
      // Its message is left out: a service may repeat in it what it was sent.
      throw new StartError(`The secret of ${stackName} cannot be written: ${error.name}.`);
    });
}

async function secretOf(stackName: string): Promise<string> {
  const { Stacks: [stack] = [] } = await new CloudFormationClient()
    .send(new DescribeStacksCommand({ StackName: stackName }))
    .catch((error: Error) => {
      throw new StartError(`The stack ${stackName} cannot be read: ${error.message}`);
    });
  const arn = stack?.Outputs?.find(({ OutputKey }) => OutputKey === secretOutput)?.OutputValue;
  if (!arn) throw new StartError(`The stack ${stackName} has no output ${secretOutput}.`);
  return arn;
}
