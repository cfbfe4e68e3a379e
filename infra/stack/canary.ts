/**
 * A function that asks the API for a quote every few minutes, as a client does, with a key of its own. Its key is made by
 * Secrets Manager, so that no template has it and the function can read it.
 */

import { Duration, Validations } from 'aws-cdk-lib';
import { ApiKey, type Stage, UsagePlan } from 'aws-cdk-lib/aws-apigateway';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { writePart } from '../../functions/settings/parts.ts';
import { getStockSnapshots } from '../../lib/catalogue/index.ts';
import type { ResolvedConfig } from './config.ts';
import { allowSecret, onceTarget } from './group-function.ts';
import type { Shared } from './shared.ts';

interface CanaryProps {
  readonly shared: Shared;
  readonly config: NonNullable<ResolvedConfig['canary']>;
  /** Of the API, as clients have it. */
  readonly url: string;
  readonly stage: Stage;
  readonly title: string;
}

export class Canary extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, id: string, { shared, config, url, stage, title }: CanaryProps) {
    super(scope, id);
    const key = new Secret(this, 'Key', {
      description: 'The API key of the canary',
      generateSecretString: { passwordLength: 40, excludePunctuation: true },
    });
    Validations.of(key).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'It opens what each client’s key opens, a few times a minute, and goes with the stack.',
    });
    new UsagePlan(this, 'Plan', {
      name: `${title} canary`,
      apiStages: [{ stage }],
      throttle: { rateLimit: 1, burstLimit: 2 },
    }).addApiKey(
      // A reference, which CloudFormation resolves when it makes the key.
      new ApiKey(this, 'ApiKey', { description: `${title}: canary`, value: key.secretValue.unsafeUnwrap() }),
    );
    const query = new URLSearchParams({ symbols: config.symbol, category: 'US_STOCK' });
    this.function = shared.worker(this, 'canary', 'canary', {
      policies: { ReadKey: [allowSecret(key.secretArn)] },
      variables: writePart('CANARY', {
        url: `${url}${getStockSnapshots.path}?${query}`,
        keySecretId: key.secretArn,
      }),
    });
    new Rule(this, 'Schedule', {
      description: 'Asks the API for a quote',
      schedule: Schedule.rate(Duration.minutes(config.everyMinutes)),
      targets: [onceTarget(this.function)],
    });
  }
}
