/**
 * A deployment step by step: the API calls the functions behind it by an alias, and CodeDeploy moves the alias to a new version
 * while alarms listen. When one rings, it goes back, and so does the whole update of the stack.
 *
 * Not of it are streams, of which one outlives the steps, and workers and the authorizer: a schedule, a queue or a table's stream
 * starts a run, which the next one repeats, and the two that hold a lease have one instance that counts.
 */

import { Validations } from 'aws-cdk-lib';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Alias,
  type IFunction,
  type IVersion,
  type Function as LambdaFunction,
} from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { FunctionName } from '../../functions/rows.ts';
import type { AlarmName } from './alarm-table.ts';
import type { Alarms } from './alarms.ts';
import type { ResolvedConfig } from './config.ts';
import type { ResolvedFunctions } from './functions-config.ts';

/** A share of failing answers is judged over ten minutes: no step may be over sooner. */
const steps = {
  canary: LambdaDeploymentConfig.CANARY_10PERCENT_15MINUTES,
  linear: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_3MINUTES,
} as const;

/** What a bad version does to requests; what the upstream or a table does is in no version's power. */
export const rolledBackBy: readonly AlarmName[] = ['functions-failing', 'answers-failing'];

type Functions<One> = Readonly<Partial<Record<FunctionName, One>>>;

/** What the API calls: an alias of each function that is deployed step by step, and the others themselves. */
export function calledBehind(
  scope: Construct,
  functions: Functions<LambdaFunction>,
  { functions: { rollout }, live }: ResolvedConfig,
): Functions<IFunction> {
  if (rollout === 'all-at-once') return functions;
  return Object.fromEntries(
    Object.entries(functions).map(([name, lambda]) => [
      name,
      live?.streams[name as FunctionName] === undefined ? aliasOf(scope, name, lambda) : lambda,
    ]),
  );
}

const aliasOf = (scope: Construct, name: string, { currentVersion }: LambdaFunction) =>
  new Alias(scope, `${name}-live`, { aliasName: 'live', version: currentVersion as IVersion });

export function rollOut(
  parent: Construct,
  called: Functions<IFunction>,
  { rollout, alarms }: { readonly rollout: ResolvedFunctions['rollout']; readonly alarms: Alarms },
): void {
  if (rollout === 'all-at-once') return;
  const scope = new Construct(parent, 'Rollout');
  const application = new LambdaApplication(scope, 'Application');
  const role = new Role(scope, 'Role', {
    assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
    description: 'CodeDeploy: moves the aliases of the functions behind the API',
  });
  Validations.of(role).acknowledge({
    id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
    reason:
      'AWS publishes this policy for exactly this role; it changes aliases, and calls hooks by their name.',
  });
  for (const [name, alias] of Object.entries(called))
    if (alias instanceof Alias)
      new LambdaDeploymentGroup(scope, name, {
        application,
        alias,
        role,
        deploymentConfig: steps[rollout],
        alarms: rolledBackBy.flatMap((one) => alarms[one] ?? []),
      });
}
