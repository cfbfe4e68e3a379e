/** A function, mostly that of one endpoint group, with a role that can do exactly what it needs. */

import { fileURLToPath } from 'node:url';
import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { bundlingOptions } from '../bundling.ts';
import type { CacheAccess } from './cache.ts';

export interface GroupFunctionProps {
  readonly title: string;
  /** The handler's file. */
  readonly entry: string;
  /** Absent for a function that signs nothing. */
  readonly secretArn?: string;
  /** Completes its description. Default that it signs requests and passes them on. */
  readonly purpose?: string;
  /** Present when the function's requests count against a limit. */
  readonly limiterTableArn?: string;
  /** Present when the function has responses to share. */
  readonly cache?: CacheAccess | undefined;
  /** What else it may do, by the policy's name. */
  readonly policies?: Readonly<Record<string, PolicyDocument>>;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMiB: number;
  /** Instances that are kept free for it, which are also its maximum. */
  readonly reservedConcurrency?: number | undefined;
  readonly logRetentionDays: number;
  readonly removalPolicy: RemovalPolicy;
}

const projectRoot = fileURLToPath(new URL('../../', import.meta.url));

export class GroupFunction extends Construct {
  readonly function: NodejsFunction;

  constructor(scope: Construct, id: string, props: GroupFunctionProps) {
    super(scope, id);
    // Its own group instead of Lambda's: that one would come into being without retention, and outlive the stack.
    const logGroup = new LogGroup(this, 'Logs', {
      retention: props.logRetentionDays,
      removalPolicy: props.removalPolicy,
    });
    const { purpose = 'signs requests and passes them to the upstream' } = props;
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      description: `${props.title}: ${props.secretArn ? 'reads the app secret' : ''}${props.limiterTableArn ? ', counts requests' : ''}${props.cache ? ', shares answers' : ''}${props.secretArn ? ' and ' : ''}writes its own log, ${props.policies ? 'and what its other policies name' : 'nothing else'}`,
      inlinePolicies: {
        ...(props.secretArn && {
          ReadSecret: allowing(['secretsmanager:GetSecretValue'], props.secretArn),
        }),
        ...(props.limiterTableArn && {
          CountRequests: allowing(
            ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
            props.limiterTableArn,
          ),
        }),
        ...(props.cache && { ShareAnswers: allowing([...props.cache.actions], props.cache.tableArn) }),
        ...props.policies,
        WriteLog: allowing(['logs:CreateLogStream', 'logs:PutLogEvents'], logGroup.logGroupArn),
      },
    });
    this.function = new NodejsFunction(this, 'Function', {
      description: `${props.title}: ${purpose}`,
      entry: props.entry,
      projectRoot,
      depsLockFilePath: `${projectRoot}package-lock.json`,
      bundling: bundlingOptions,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMiB,
      ...(props.reservedConcurrency && { reservedConcurrentExecutions: props.reservedConcurrency }),
      timeout: Duration.seconds(props.timeoutSeconds),
      // Given, so that the library adds no managed policy, which would write every log group of the account.
      role,
      logGroup,
      awsSdkConnectionReuse: false,
      environment: { ...props.environment, ...props.cache?.variables },
    });
  }
}

export function allowing(actions: string[], resource: string): PolicyDocument {
  return new PolicyDocument({ statements: [new PolicyStatement({ actions, resources: [resource] })] });
}
