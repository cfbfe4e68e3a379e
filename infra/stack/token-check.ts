/**
 * A function that looks at the access token on a schedule. It reads the secret and writes its own log; a new token is the
 * operator's work, because its owner has to confirm it.
 */

import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Shared } from './shared.ts';
import type { ResolvedAccessToken } from './token-config.ts';

/** Configuration, check, use and another check; and the secret. */
const calls = 4;

export class TokenCheck extends Construct {
  /** May be invoked at any time, too. */
  readonly function: Lambda;

  constructor(scope: Construct, id: string, shared: Shared, config: ResolvedAccessToken) {
    super(scope, id);
    this.function = shared.worker(this, 'access-token', 'access-token', {
      timeoutSeconds: (calls * shared.config.upstream.timeoutMs) / 1000 + 10,
    });
    new Rule(this, 'Schedule', {
      description: 'Checks the access token at the upstream',
      schedule: Schedule.rate(Duration.hours(config.checkEveryHours)),
      targets: [new LambdaFunction(this.function)],
    });
  }
}
