/**
 * Reads a deployed stack's outputs, and reads and writes its secret, which two operators may change at the same time.
 * Endpoint, Region and credentials come from the environment, as for every AWS command.
 */

import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import { StartError } from '../environment.ts';
import { accessFault } from './aws.ts';

/** Stack output that names its secret. */
export const secretOutput = 'SecretArn';

export interface StoredSecret {
  readonly text: string;
  readonly id: string;
}

export interface StackSecret {
  /** Reads the current version; undefined while the secret was never set. */
  read(): Promise<StoredSecret | undefined>;
  /** Makes the text the current version, whichever was. */
  put(text: string): Promise<void>;
  /**
   * Makes the text current if `expected` still is. Returns false when another version became current meanwhile, which then
   * stays. After `put` and `replace`, the version that was current is the previous one.
   */
  replace(expected: StoredSecret, text: string): Promise<boolean>;
}

/** @throws StartError when the stack cannot be read */
export async function outputsOf(stackName: string): Promise<ReadonlyMap<string, string>> {
  const { Stacks: [stack] = [] } = await new CloudFormationClient()
    .send(new DescribeStacksCommand({ StackName: stackName }))
    .catch((error: Error) => {
      throw accessFault(error) ?? new StartError(`The stack ${stackName} cannot be read: ${error.message}`);
    });
  return new Map(
    (stack?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey ?? '', OutputValue ?? '']),
  );
}

/** @throws StartError when the stack has no such output */
export function outputOf(stackName: string, outputs: ReadonlyMap<string, string>, name: string): string {
  const value = outputs.get(name);
  if (!value) throw new StartError(`The stack ${stackName} has no output ${name}.`);
  return value;
}

/** Label of a version that is written but not current yet. */
const waitingLabel = 'countersign-next';

/** Opens the secret. Its methods reject with a StartError that names the service's error, and nothing that was sent to it. */
export function stackSecret(stackName: string, SecretId: string): StackSecret {
  const client = new SecretsManagerClient();
  // An error's message is left out: a service may repeat in it what it was sent.
  const fail = (what: string) => (error: Error) => {
    throw new StartError(`The secret of ${stackName} cannot be ${what}: ${error.name}.`);
  };
  return {
    async read() {
      try {
        const { SecretString, SecretBinary, VersionId } = await client.send(
          new GetSecretValueCommand({ SecretId }),
        );
        const text = SecretString ?? (SecretBinary && new TextDecoder().decode(SecretBinary));
        return text === undefined || VersionId === undefined ? undefined : { text, id: VersionId };
      } catch (error) {
        // No version is current: the secret was created, but never set.
        if (error instanceof ResourceNotFoundException) return undefined;
        return fail('read')(error as Error);
      }
    },
    async put(SecretString) {
      await client.send(new PutSecretValueCommand({ SecretId, SecretString })).catch(fail('written'));
    },
    async replace({ id: RemoveFromVersionId }, SecretString) {
      // Secrets Manager has no conditional write, but it moves a label only away from the version that is named.
      const { VersionId: MoveToVersionId } = await client
        .send(new PutSecretValueCommand({ SecretId, SecretString, VersionStages: [waitingLabel] }))
        .catch(fail('written'));
      const moved = await client
        .send(
          new UpdateSecretVersionStageCommand({
            SecretId,
            VersionStage: 'AWSCURRENT',
            MoveToVersionId,
            RemoveFromVersionId,
          }),
        )
        .then(
          () => true,
          (error: Error) => (error.name === 'InvalidParameterException' ? false : fail('written')(error)),
        );
      // A version without a label cannot be read any more, and Secrets Manager deletes it.
      await client
        .send(
          new UpdateSecretVersionStageCommand({
            SecretId,
            VersionStage: waitingLabel,
            RemoveFromVersionId: MoveToVersionId,
          }),
        )
        .catch(() => {});
      return moved;
    },
  };
}
