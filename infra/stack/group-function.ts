/** A function, mostly that of one endpoint group, with a role that can do exactly what it needs. */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as Target } from 'aws-cdk-lib/aws-events-targets';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  type FunctionOptions,
  Function as LambdaFunction,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { writePart } from '../../functions/settings/parts.ts';
import { bundlingOptions } from '../bundling.ts';
import type { CacheAccess } from './cache.ts';
import { ConfigError } from './config-error.ts';
import { allowTable } from './tables.ts';

/** What one function has of a part of the deployment. */
export interface FunctionAccess {
  /** What it may do, by the policy's name. */
  readonly policies: Readonly<Record<string, readonly PolicyStatement[]>>;
  readonly variables: Readonly<Record<string, string>>;
}

/** Where functions run that have addresses of a network of the deployer's. */
export type Network = Pick<FunctionOptions, 'vpc' | 'vpcSubnets' | 'securityGroups'>;

export interface GroupFunctionProps {
  readonly title: string;
  /** The handler's file; or its bundle, as a `.zip` with `index.mjs`. */
  readonly entry: string;
  /** Absent for a function that signs nothing. */
  readonly secretArn?: string;
  /** Present for a function that names or unseals users and orders by itself. */
  readonly identityKeyArn?: string;
  /** Completes its description. Default that it signs requests and passes them on. */
  readonly purpose?: string;
  /** Present when the function's requests count against a limit. */
  readonly limiterTableArn?: string;
  /** Present when the function has responses to share. */
  readonly cache?: CacheAccess | undefined;
  /** What it has of other parts; undefined ones count as none. */
  readonly access?: readonly (FunctionAccess | undefined)[];
  /** What else it may do. */
  readonly policies?: FunctionAccess['policies'];
  /** Its variables: these first, then those of what it has access to, and `variables`. */
  readonly environment?: FunctionAccess['variables'];
  readonly variables?: FunctionAccess['variables'] | undefined;
  readonly timeoutSeconds: number;
  /** Default 256. */
  readonly memoryMiB?: number;
  /** Instances that are kept free for it, which are also its maximum. */
  readonly reservedConcurrency?: number | undefined;
  readonly logRetentionDays: number;
  readonly removalPolicy: RemovalPolicy;
  readonly network?: Network | undefined;
}

const here = dirname(fileURLToPath(import.meta.url));
const projectRoot = `${join(here, '../..')}/`;

/** In the package all functions are bundled already, so that an app needs neither their sources nor a bundler. */
export function handlerOf(name: string): string {
  const bundle = join(here, `../../bundles/${name}.zip`);
  return existsSync(bundle) ? bundle : `${projectRoot}functions/${name}/handler.ts`;
}

export class GroupFunction extends Construct {
  readonly function: LambdaFunction;
  readonly role: Role;
  /** Whether it may use a table or a secret. */
  readonly keepsOrReads: boolean;

  constructor(scope: Construct, id: string, props: GroupFunctionProps) {
    super(scope, id);
    // Its own group instead of Lambda's: that one would come into being without retention, and outlive the stack.
    const logGroup = new LogGroup(this, 'Logs', {
      retention: props.logRetentionDays,
      removalPolicy: props.removalPolicy,
    });
    const policies = policiesOf(props);
    this.role = this.#role(props, policies, logGroup);
    this.keepsOrReads = Object.keys(policies).length > 0;
    const common = {
      description: `${props.title}: ${props.purpose ?? 'signs requests and passes them to the upstream'}`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMiB ?? 256,
      ...(props.reservedConcurrency && { reservedConcurrentExecutions: props.reservedConcurrency }),
      timeout: Duration.seconds(props.timeoutSeconds),
      // Given, so that the library adds no managed policy, which would write every log group of the account.
      role: this.role,
      logGroup,
      ...props.network,
      environment: environmentOf(props),
    };
    const { entry } = props;
    this.function = entry.endsWith('.zip')
      ? new LambdaFunction(this, 'Function', {
          ...common,
          handler: 'index.handler',
          code: Code.fromAsset(entry),
        })
      : new NodejsFunction(this, 'Function', {
          ...common,
          entry,
          // A file of an app of one's own is bundled as that app's.
          ...(entry.startsWith(projectRoot) && {
            projectRoot,
            depsLockFilePath: `${projectRoot}package-lock.json`,
          }),
          bundling: bundlingOptions,
          awsSdkConnectionReuse: false,
        });
  }

  #role(props: GroupFunctionProps, own: FunctionAccess['policies'], { logGroupArn }: LogGroup): Role {
    const { title, secretArn, limiterTableArn, cache } = props;
    const policies: FunctionAccess['policies'] = {
      ...own,
      WriteLog: [allow(['logs:CreateLogStream', 'logs:PutLogEvents'], logGroupArn)],
      // Lambda does it with the function's role, and no such action can be held to one network interface.
      ...(props.network && { JoinNetwork: [allow(networkActions, '*')] }),
    };
    const named = Number(Boolean(secretArn)) + Number(Boolean(limiterTableArn)) + Number(Boolean(cache));
    const rest = Object.keys(own).length > named ? 'and what its other policies name' : 'nothing else';
    return new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `${title}: ${secretArn ? 'reads the app secret' : ''}${limiterTableArn ? ', counts requests' : ''}${cache ? ', shares answers' : ''}${secretArn ? ' and ' : ''}writes its own log, ${rest}`,
      inlinePolicies: Object.fromEntries(
        Object.entries(policies).map(([name, statements]) => [
          name,
          new PolicyDocument({ statements: [...statements] }),
        ]),
      ),
    });
  }
}

function environmentOf(props: GroupFunctionProps): FunctionAccess['variables'] {
  const variables: FunctionAccess['variables'] = {
    ...props.environment,
    ...Object.assign({}, ...(props.access ?? []).map((one) => one?.variables)),
    ...(props.identityKeyArn !== undefined &&
      writePart('IDENTITY', { identityKeySecretId: props.identityKeyArn })),
    ...props.variables,
    ...props.cache?.variables,
  };
  const lengths = Object.entries(variables).map(
    ([name, text]) => [name, (name + text.replaceAll(unresolved, reference)).length] as const,
  );
  if (lengths.reduce((sum, [, length]) => sum + length, 0) > maxLength) {
    const longest = lengths.filter(([name]) => lists[name]).sort(([, one], [, other]) => other - one);
    const named = longest.slice(0, 3).map(([name, length]) => `${lists[name]} (${length} characters)`);
    throw new ConfigError(
      `${named.join(', ')} are too long together for the function “${props.title}”: all that it is told takes ${maxLength} characters at most, because Lambda holds a function’s environment to 4 kB. Longer limits of trading are set with countersign trading, after the deployment.`,
    );
  }
  return variables;
}

/** Lambda takes 4 kB. The rest is for names that are longer than what stands for them here. */
const maxLength = 3000;
/** A name, an ARN or a URL that is known at deployment. */
const unresolved = /\$\{Token\[[^\]]+\]\}/g;
const reference = 'x'.repeat(100);

/** The properties that make a variable long. */
const lists: Readonly<Record<string, string>> = {
  UPSTREAM: 'upstream.paths',
  AUTH: 'auth',
  CORS: 'cors.origins',
  LIMITER: 'limiter.operationLimits',
  TRADING: 'trading',
};

/** What it may do beside writing its log. */
function policiesOf(props: GroupFunctionProps): FunctionAccess['policies'] {
  const { secretArn, identityKeyArn, limiterTableArn, cache, access = [] } = props;
  return {
    ...(secretArn && { ReadSecret: [allowSecret(secretArn)] }),
    ...(limiterTableArn && {
      CountRequests: [allowTable(['GetItem', 'PutItem', 'UpdateItem'], limiterTableArn)],
    }),
    ...(cache && { ShareAnswers: [cache.right] }),
    ...Object.assign({}, ...access.map((one) => one?.policies)),
    ...(identityKeyArn !== undefined && { ReadIdentityKey: [allowSecret(identityKeyArn)] }),
    ...props.policies,
  };
}

/** Those of AWS's own policy for functions in a VPC. */
const networkActions = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];

export const allow = (actions: readonly string[], ...resources: readonly string[]): PolicyStatement =>
  new PolicyStatement({ actions: [...actions], resources: [...resources] });

export const allowSecret = (secretArn: string): PolicyStatement =>
  allow(['secretsmanager:GetSecretValue'], secretArn);

/** A run each minute. The next minute starts another one, which is as good as a retry and later than a storm. */
export function runEachMinute(scope: Construct, lambda: LambdaFunction, description: string): void {
  lambda.configureAsyncInvoke(once);
  new Rule(scope, 'Schedule', {
    description,
    schedule: Schedule.rate(Duration.minutes(1)),
    targets: [onceTarget(lambda)],
  });
}

const once = { retryAttempts: 0, maxEventAge: Duration.minutes(1) };

/** For rules whose events a function need not see: what it misses, its next run finds. */
export const onceTarget = (lambda: LambdaFunction): Target => new Target(lambda, once);
