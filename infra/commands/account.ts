/** What preflight reads of an AWS account: quotas, what is used of them, and what the stage itself holds already. */

import {
  APIGatewayClient,
  GetAccountCommand,
  paginateGetApiKeys,
  paginateGetUsagePlans,
} from '@aws-sdk/client-api-gateway';
import { CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import {
  GetAccountSettingsCommand,
  GetFunctionConcurrencyCommand,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import type { UsagePlan } from '../../lib/catalogue/index.ts';
import { accessFault } from './aws.ts';
import { type Certificate, readCertificate } from './certificate.ts';

/** Of Lambda, for the account and Region: instances in all, and those that no function has reserved. */
export interface Concurrency {
  readonly all: number;
  readonly unreserved: number;
}

/** What the stage's own stack has already: a deployment does not need it a second time. */
export interface DeployedResources {
  readonly reserved: number;
  readonly keys: number;
  readonly usagePlans: number;
}

/** A figure that could not be read is absent; `unknown` has the reason. */
export interface AwsAccount {
  readonly region: string;
  readonly lambda?: Concurrency | undefined;
  /** API Gateway's bucket for all APIs together. */
  readonly apiGateway?: UsagePlan | undefined;
  readonly keys?: number | undefined;
  readonly usagePlans?: number | undefined;
  readonly deployed?: DeployedResources | undefined;
  /** The one that the stage's domain names. */
  readonly certificate?: Certificate | undefined;
  /** One sentence for each figure. */
  readonly unknown: readonly string[];
}

/** A check before a deployment must not take long. */
const client = { maxAttempts: 2, requestHandler: { connectionTimeout: 3000, requestTimeout: 10_000 } };

/**
 * Endpoint, Region and credentials come from the environment, as for every AWS command. Only reads.
 *
 * @param stackName of the stage; it need not exist
 * @param certificateArn of the stage's domain; of another Region it is not asked for
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
  const lambda = new LambdaClient(client);
  const gateway = new APIGatewayClient(client);
  const region = await lambda.config.region().catch((error) => {
    throw accessFault(error) ?? error;
  });
  return {
    region,
    lambda: await read('Lambda’s instances', 'lambda:GetAccountSettings', () => concurrencyOf(lambda)),
    apiGateway: await read('API Gateway’s rate', 'apigateway:GET /account', () => bucketOf(gateway)),
    keys: await read('API keys', 'apigateway:GET /apikeys', () =>
      count(paginateGetApiKeys({ client: gateway, pageSize: 500 }, { includeValues: false })),
    ),
    usagePlans: await read('usage plans', 'apigateway:GET /usageplans', () =>
      count(paginateGetUsagePlans({ client: gateway, pageSize: 500 }, {})),
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
 * Only the instances that the account has in all: for a check that must not hold up a deployment.
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

async function count(pages: AsyncIterable<{ readonly items?: readonly unknown[] | undefined }>) {
  let sum = 0;
  for await (const { items = [] } of pages) sum += items.length;
  return sum;
}

async function deployedBy(StackName: string, lambda: LambdaClient): Promise<DeployedResources> {
  const ids = new Map<string, string[]>();
  try {
    for await (const page of paginateListStackResources(
      { client: new CloudFormationClient(client) },
      { StackName },
    ))
      for (const { ResourceType: type = '', PhysicalResourceId: id = '' } of page.StackResourceSummaries ??
        [])
        ids.set(type, [...(ids.get(type) ?? []), id]);
  } catch (error) {
    // CloudFormation's only way to say that there is no such stack.
    if (!/does not exist/.test(String(error))) throw error;
  }
  const of = (type: string) => ids.get(`AWS::${type}`) ?? [];
  let reserved = 0;
  for (const FunctionName of of('Lambda::Function')) {
    const { ReservedConcurrentExecutions: own = 0 } = await lambda.send(
      new GetFunctionConcurrencyCommand({ FunctionName }),
    );
    reserved += own;
  }
  return { reserved, keys: of('ApiGateway::ApiKey').length, usagePlans: of('ApiGateway::UsagePlan').length };
}

/** An emulator may leave a figure out of its response. */
function figure(value: number | undefined): number {
  if (value === undefined) throw Object.assign(new Error(), { name: 'an answer without the figure' });
  return value;
}

const nameOf = (error: unknown) =>
  error instanceof Error ? ('code' in error && String(error.code)) || error.name : 'an error';
