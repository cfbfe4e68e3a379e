/** Reads an AWS account for preflight: its quotas, how much of them is used, and what the stage's own stack already holds. */

import {
  APIGatewayClient,
  GetAccountCommand,
  paginateGetApiKeys,
  paginateGetUsagePlans,
} from '@aws-sdk/client-api-gateway';
import {
  GetAccountSettingsCommand,
  GetFunctionConcurrencyCommand,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import type { UsagePlan } from '../../lib/catalogue/index.ts';
import { accessFault } from './aws.ts';
import { type Certificate, readCertificate } from './certificate.ts';
import { deployedOf } from './stack-resources.ts';

/** Lambda's concurrency quota for the account and Region, and the part that no function has reserved. */
export interface Concurrency {
  readonly all: number;
  readonly unreserved: number;
}

/** Resources of the stage's own stack; a deployment does not need them a second time. */
interface DeployedResources {
  readonly reserved: number;
  readonly keys: number;
  readonly usagePlans: number;
}

/** Figures of the account. One that could not be read is absent, and `unknown` has the reason. */
export interface AwsAccount {
  readonly region: string;
  readonly lambda?: Concurrency | undefined;
  /** API Gateway's bucket for all APIs together. */
  readonly apiGateway?: UsagePlan | undefined;
  readonly keys?: number | undefined;
  readonly usagePlans?: number | undefined;
  readonly deployed?: DeployedResources | undefined;
  /** Certificate that the stage's domain names. */
  readonly certificate?: Certificate | undefined;
  /** Sentences for the operator, one for each figure that could not be read. */
  readonly unknown: readonly string[];
}

/** Short time limits: a check before a deployment must not take long. */
const clientOptions = { maxAttempts: 2, requestHandler: { connectionTimeout: 3000, requestTimeout: 10_000 } };

/**
 * Reads only. Endpoint, Region and credentials come from the environment, as for every AWS command.
 *
 * @param stackName the stage's stack, which need not exist
 * @param certificateArn the domain's certificate; one in another Region is not read
 * @throws StartError without credentials or Region, and when AWS does not accept the credentials
 */
export async function readAccount(stackName: string, certificateArn?: string): Promise<AwsAccount> {
  const unknown: string[] = [];
  const read = async <T>(what: string, action: string, ask: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await ask();
    } catch (error) {
      const fault = accessFault(error);
      if (fault) throw fault;
      unknown.push(`${what}: ${action} failed with ${nameOf(error)}.`);
      return undefined;
    }
  };
  const lambda = new LambdaClient(clientOptions);
  const gateway = new APIGatewayClient(clientOptions);
  const region = await lambda.config.region().catch((error) => {
    throw accessFault(error) ?? error;
  });
  return {
    region,
    lambda: await read('Lambda’s instances', 'lambda:GetAccountSettings', () => concurrencyOf(lambda)),
    apiGateway: await read('API Gateway’s rate', 'apigateway:GET /account', () => bucketOf(gateway)),
    keys: await read('API keys', 'apigateway:GET /apikeys', () =>
      countItems(paginateGetApiKeys({ client: gateway, pageSize: 500 }, { includeValues: false })),
    ),
    usagePlans: await read('usage plans', 'apigateway:GET /usageplans', () =>
      countItems(paginateGetUsagePlans({ client: gateway, pageSize: 500 }, {})),
    ),
    deployed: await read('what the stage has already', 'cloudformation:ListStackResources', () =>
      deployedBy(stackName, lambda),
    ),
    ...(certificateArn?.split(':')[3] === region && {
      certificate: await read('the certificate', 'acm:DescribeCertificate', () =>
        readCertificate(certificateArn, { region, credentials: lambda.config.credentials }),
      ),
    }),
    unknown,
  };
}

/**
 * Reads only the account's Lambda concurrency, for a check that must not hold up a deployment.
 *
 * @returns undefined when they cannot be read within a few seconds
 */
export async function readInstances(): Promise<number | undefined> {
  const quick = { maxAttempts: 1, requestHandler: { connectionTimeout: 2000, requestTimeout: 3000 } };
  return concurrencyOf(new LambdaClient(quick)).then(
    ({ all }) => all,
    () => undefined,
  );
}

async function concurrencyOf(lambda: LambdaClient): Promise<Concurrency> {
  const { AccountLimit: limit } = await lambda.send(new GetAccountSettingsCommand());
  return {
    all: figure(limit?.ConcurrentExecutions),
    unreserved: figure(limit?.UnreservedConcurrentExecutions),
  };
}

async function bucketOf(gateway: APIGatewayClient): Promise<UsagePlan> {
  const { throttleSettings } = await gateway.send(new GetAccountCommand());
  return { ratePerSecond: figure(throttleSettings?.rateLimit), burst: figure(throttleSettings?.burstLimit) };
}

async function countItems(pages: AsyncIterable<{ readonly items?: readonly unknown[] | undefined }>) {
  let sum = 0;
  for await (const { items = [] } of pages) sum += items.length;
  return sum;
}

async function deployedBy(StackName: string, lambda: LambdaClient): Promise<DeployedResources> {
  const resources = await deployedOf(StackName, clientOptions).catch((error: unknown) => {
    // CloudFormation reports a missing stack only by this text.
    if (!/does not exist/.test(String(error))) throw error;
    return [];
  });
  const of = (type: string) => resources.filter((one) => one.type === `AWS::${type}`);
  let reserved = 0;
  for (const { physicalId: FunctionName } of of('Lambda::Function')) {
    const { ReservedConcurrentExecutions: own = 0 } = await lambda.send(
      new GetFunctionConcurrencyCommand({ FunctionName }),
    );
    reserved += own;
  }
  return { reserved, keys: of('ApiGateway::ApiKey').length, usagePlans: of('ApiGateway::UsagePlan').length };
}

/** Fails for an absent figure: an emulator may leave one out of its response. */
function figure(value: number | undefined): number {
  if (value === undefined) throw Object.assign(new Error(), { name: 'an answer without the figure' });
  return value;
}

const nameOf = (error: unknown) =>
  error instanceof Error ? ('code' in error && String(error.code)) || error.name : 'an error';
