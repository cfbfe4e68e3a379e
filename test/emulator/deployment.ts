/**
 * Deploys a synthesised stack into the emulator as the CDK does on AWS: assets into a bucket, then one
 * CloudFormation stack, created or updated. The template and the bundles are the real ones.
 */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStackEventsCommand,
  DescribeStacksCommand,
  UpdateStackCommand,
} from '@aws-sdk/client-cloudformation';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { zipSync } from 'fflate';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import type { Ministack } from '../support/ministack.ts';
import { emulatorEnvironment } from '../world/dynamo.ts';

export type Outputs = Readonly<Record<string, string>>;

export interface Assembly {
  readonly directory: string;
  readonly stackName: string;
}

interface AssetManifest {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly source: { readonly path: string; readonly packaging: 'zip' | 'file' };
        readonly destinations: Readonly<
          Record<string, { readonly bucketName: string; readonly objectKey: string }>
        >;
      }
    >
  >;
}

/** The emulator's account. */
const account = '000000000000';

export const clientConfig = ({ endpoint, region }: Ministack) => ({
  endpoint,
  region,
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
});

/** As stores have it. */
export const dynamoOf = (emulator: Ministack) => {
  const { endpoint, region, credentials } = clientConfig(emulator);
  return createDynamoClient(endpoint, { region: () => region, credentials: () => credentials });
};

/** The environment of a command, or of an SDK, that finds the emulator. */
export const commandEnvironment = ({ endpoint }: Pick<Ministack, 'endpoint'>) => ({
  ...emulatorEnvironment,
  AWS_ENDPOINT_URL: endpoint,
});

/** @returns the stack's outputs by their key in the template */
export async function deploy(emulator: Ministack, assembly: Assembly): Promise<Outputs> {
  await uploadAssets(emulator, assembly);
  const cloudFormation = new CloudFormationClient(clientConfig(emulator));
  const { stackName: StackName, directory } = assembly;
  const input = {
    StackName,
    TemplateURL: await uploadTemplate(
      emulator,
      emulatorTemplate(readFileSync(join(directory, `${StackName}.template.json`), 'utf8')),
    ),
    Capabilities: ['CAPABILITY_IAM' as const],
  };
  const exists = await cloudFormation.send(new DescribeStacksCommand({ StackName })).then(
    ({ Stacks = [] }) => Stacks.some(({ StackStatus }) => StackStatus !== 'DELETE_COMPLETE'),
    () => false,
  );
  await cloudFormation.send(exists ? new UpdateStackCommand(input) : new CreateStackCommand(input));
  for (;;) {
    const { Stacks: [stack] = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
    const status = stack?.StackStatus ?? 'unknown';
    if (status.endsWith('_IN_PROGRESS')) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    } else if (status === 'CREATE_COMPLETE' || status === 'UPDATE_COMPLETE') {
      return Object.fromEntries(
        (stack?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey ?? '', OutputValue ?? '']),
      );
    } else {
      const { StackEvents = [] } = await cloudFormation.send(new DescribeStackEventsCommand({ StackName }));
      const reasons = StackEvents.flatMap(({ LogicalResourceId, ResourceStatus, ResourceStatusReason }) =>
        ResourceStatusReason ? [`${LogicalResourceId} ${ResourceStatus}: ${ResourceStatusReason}`] : [],
      );
      throw new Error(`${StackName} is ${status}: ${stack?.StackStatusReason}\n${reasons.join('\n')}`);
    }
  }
}

async function uploadAssets(emulator: Ministack, { directory, stackName }: Assembly): Promise<void> {
  const s3 = new S3Client({ ...clientConfig(emulator), forcePathStyle: true });
  const manifest: AssetManifest = JSON.parse(
    readFileSync(join(directory, `${stackName}.assets.json`), 'utf8'),
  );
  for (const { source, destinations } of Object.values(manifest.files)) {
    const path = join(directory, source.path);
    const Body = source.packaging === 'zip' ? zip(path) : readFileSync(path);
    for (const { bucketName, objectKey: Key } of Object.values(destinations)) {
      const Bucket = withEnvironment(bucketName, emulator);
      await s3.send(new CreateBucketCommand({ Bucket })).catch(() => undefined);
      await s3.send(new PutObjectCommand({ Bucket, Key, Body }));
    }
  }
}

/** One of every operation is more than a call may hold, here as on AWS. */
async function uploadTemplate(emulator: Ministack, Body: string): Promise<string> {
  const s3 = new S3Client({ ...clientConfig(emulator), forcePathStyle: true });
  const place = { Bucket: 'templates', Key: 'template.json' };
  await s3.send(new CreateBucketCommand({ Bucket: place.Bucket })).catch(() => undefined);
  await s3.send(new PutObjectCommand({ ...place, Body }));
  return `${emulator.endpoint}/${place.Bucket}/${place.Key}`;
}

function zip(directory: string): Uint8Array {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile());
  const contents = files.map((path) => [relative(directory, path), readFileSync(path)]);
  // What is unpacked again on the same machine is hardly worth packing.
  return zipSync(Object.fromEntries(contents), { level: 1 });
}

const withEnvironment = (text: string, { region }: Ministack) =>
  text
    .replaceAll(`\${AWS::AccountId}`, account)
    .replaceAll(`\${AWS::Region}`, region)
    .replaceAll(`\${AWS::Partition}`, 'aws');

/** What the emulator does not take: saved queries, and policies of a bus, which it would not enforce. */
const unknownTypes = ['AWS::Events::EventBusPolicy', 'AWS::Logs::QueryDefinition'];

/**
 * What the emulator does otherwise than AWS: a secret's Ref gives its name there instead of its ARN, and it knows no
 * bootstrap parameter, no alarm that adds up metrics, and so no dashboard, which shows the alarms.
 */
function emulatorTemplate(text: string): string {
  const template = JSON.parse(text) as {
    Resources: Record<
      string,
      { readonly Type: string; readonly Properties?: { readonly Metrics?: unknown } }
    >;
    Parameters?: Record<string, unknown>;
    Rules?: unknown;
  };
  const secrets = new Set(
    Object.entries(template.Resources).flatMap(([id, { Type }]) =>
      Type === 'AWS::SecretsManager::Secret' ? [id] : [],
    ),
  );
  delete template.Parameters?.BootstrapVersion;
  delete template.Rules;
  for (const [id, { Type, Properties }] of Object.entries(template.Resources)) {
    const isSum = Type === 'AWS::CloudWatch::Alarm' && Properties?.Metrics !== undefined;
    if (isSum || Type === 'AWS::CloudWatch::Dashboard' || unknownTypes.includes(Type))
      delete template.Resources[id];
  }
  return JSON.stringify(template, (_, value: unknown) => {
    const id = typeof value === 'object' && value !== null && 'Ref' in value ? value.Ref : undefined;
    return typeof id === 'string' && secrets.has(id) ? { 'Fn::GetAtt': [id, 'Id'] } : value;
  });
}
