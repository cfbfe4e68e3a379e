/** Managed instances for a function whose answers are streams: many streams share one environment. */

import { Annotations, Duration, type RemovalPolicy, TimeZone, Validations } from 'aws-cdk-lib';
import { type ISubnet, SecurityGroup, Subnet } from 'aws-cdk-lib/aws-ec2';
import { Architecture, CapacityProvider, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { Universal } from 'aws-cdk-lib/aws-scheduler-targets';
import { Construct } from 'constructs';
import type { ResolvedCapacity } from './capacity-config.ts';
import { allow } from './group-function.ts';

/** The least that Lambda gives an environment. A thousand streams take a thirteenth of it, and a sixth of the processor. */
export const environmentMiB = 2048;

/**
 * Lambda’s runtime makes eight worker threads a vCPU, each of which would follow the cache by itself. The variable is the
 * runtime’s.
 */
export const oneLoop = { AWS_LAMBDA_NODEJS_WORKER_COUNT: '1' } as const;

/** The version that API Gateway calls by the function’s ARN. */
const published = '$LATEST.PUBLISHED';

interface StreamCapacityOptions {
  readonly function: LambdaFunction;
  readonly capacity: ResolvedCapacity;
  readonly logRetentionDays: number;
  readonly removalPolicy: RemovalPolicy;
}

export class StreamCapacity extends Construct {
  constructor(scope: Construct, id: string, options: StreamCapacityOptions) {
    super(scope, id);
    const { function: lambda, capacity } = options;
    const { environments, streamsPerEnvironment, subnets, securityGroups } = capacity;
    const provider = new CapacityProvider(this, 'Provider', {
      architectures: [Architecture.ARM_64],
      subnets: [...new Set(subnets)].map((one) => this.#subnet(one)),
      securityGroups: [...new Set(securityGroups)].map((one) =>
        SecurityGroup.fromSecurityGroupId(this, one, one),
      ),
      // A bound of what it can cost. Instances have room that no environment takes, and are replaced every two weeks.
      maxVCpuCount: 2 * environments + 12,
      logGroup: new LogGroup(this, 'Logs', {
        retention: options.logRetentionDays,
        removalPolicy: options.removalPolicy,
      }),
    });
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AWSLambdaManagedEC2ResourceOperator]',
      reason: 'AWS publishes this policy for exactly this role, with which Lambda starts and ends instances.',
    });
    provider.addFunction(lambda, {
      perExecutionEnvironmentMaxConcurrency: streamsPerEnvironment,
      executionEnvironmentMemoryGiBPerVCpu: environmentMiB / 1024,
      publishToLatestPublished: true,
      // All of them with each deployment, which may come while the market is open.
      latestPublishedScalingConfig: {
        minExecutionEnvironments: environments,
        maxExecutionEnvironments: environments,
      },
    });
    this.#keep('Open', capacity.from, environments, options);
    this.#keep('Close', capacity.to, capacity.atRest, options);
  }

  #subnet(id: string): ISubnet {
    const subnet = Subnet.fromSubnetId(this, id, id);
    // Its routes are the deployer's, and nothing here asks for them.
    Annotations.of(subnet).acknowledgeWarning('@aws-cdk/aws-ec2:noSubnetRouteTableId');
    return subnet;
  }

  /** Lambda adds environments by the processor’s use, and streams that wait use little: so they are there before. */
  #keep(
    id: string,
    time: string,
    least: number,
    { function: lambda, capacity }: StreamCapacityOptions,
  ): void {
    const [hour = '', minute = ''] = time.split(':');
    const FunctionScalingConfig = {
      MinExecutionEnvironments: least,
      MaxExecutionEnvironments: capacity.environments,
    };
    const { functionName, functionArn } = lambda;
    new Schedule(this, id, {
      description: `Keeps ${least} environments for streams of quotes from ${time} on`,
      schedule: ScheduleExpression.cron({
        minute: String(Number(minute)),
        hour: String(Number(hour)),
        weekDay: 'MON-FRI',
        timeZone: TimeZone.AMERICA_NEW_YORK,
      }),
      target: new Universal({
        service: 'lambda',
        action: 'putFunctionScalingConfig',
        input: ScheduleTargetInput.fromObject({
          FunctionName: functionName,
          Qualifier: published,
          FunctionScalingConfig,
        }),
        // Later it could undo what the other schedule did.
        maxEventAge: Duration.hours(1),
        policyStatements: [
          allow(['lambda:PutFunctionScalingConfig'], functionArn, `${functionArn}:${published}`),
        ],
      }),
    });
  }
}
