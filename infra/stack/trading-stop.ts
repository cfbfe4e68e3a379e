/**
 * The stop that an alarm sets: a function that stops the gateway's trading, a rule that brings it the alarms that the
 * stage names. Any other alarm of the account can name the function as its action.
 */

import { Duration, Stack } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { historyPartition, stopAttributes } from '../../functions/aws/dynamo-control-admin.ts';
import { massCancelPartition } from '../../functions/aws/dynamo-mass-cancel-requests.ts';
import { writePart } from '../../functions/settings/parts.ts';
import { stackScope } from '../../lib/guard-rails/controls.ts';
import { allow } from './group-function.ts';
import { lostQueue } from './queues-and-buses.ts';
import type { Shared } from './shared.ts';
import type { ResolvedStopOnAlarms } from './trading-config.ts';
import { inPartitions } from './trading-controls.ts';

/** What the function does to the table; a test compares it with its code. */
export const tradingStopActions = {
  read: ['BatchGetItem'],
  /** The gateway's scope, without its limits. */
  stop: ['UpdateItem'],
  /** The history, and requests to cancel what is open. */
  note: ['PutItem'],
};

/** Lambda waits a minute before the second try, and two before the third. */
const retryAttempts = 2;
/** What came no further by then is for a person: later, an operator may have resumed for good reason. */
const maxEventAge = Duration.minutes(15);

export class TradingStop extends Construct {
  /** May be an alarm's action, also of an alarm of another stack in the same account and Region. */
  readonly function: Lambda;
  /** Events of alarms that led to no stop. */
  readonly lost: Queue;

  /** @param controls limits and stops */
  constructor(scope: Construct, id: string, shared: Shared, config: ResolvedStopOnAlarms, controls: Table) {
    super(scope, id);
    this.lost = lostQueue(this);
    this.function = this.#function(shared, config, controls);
    this.function.configureAsyncInvoke({
      retryAttempts,
      maxEventAge,
      onFailure: { bind: () => ({ destination: this.lost.queueArn }) },
    });
    this.#letAlarmsInvoke();
    if (config.names.length > 0) this.#rule(config.names);
  }

  #function(shared: Shared, config: ResolvedStopOnAlarms, controls: Table): Lambda {
    // What is set of accounts and users lies in other partitions.
    const noted = [historyPartition, ...(config.cancelOpen ? [massCancelPartition] : [])];
    const stop = inPartitions(tradingStopActions.stop, controls, [stackScope]);
    stop.addCondition('ForAllValues:StringEquals', { 'dynamodb:Attributes': stopAttributes });
    return shared.worker(this, 'Stop', 'trading-stop', {
      policies: {
        StopTrading: [
          inPartitions(tradingStopActions.read, controls, [stackScope]),
          stop,
          inPartitions(tradingStopActions.note, controls, noted),
        ],
        NoteLost: [allow(['sqs:SendMessage'], this.lost.queueArn)],
      },
      variables: {
        ...writePart('TRADING_STOP', { tableName: controls.tableName, cancelOpen: config.cancelOpen }),
        ...writePart('METRICS', { secretId: shared.secret.secretArn }),
      },
      reservedConcurrency: config.reservedConcurrency,
    });
  }

  #letAlarmsInvoke(): void {
    const stack = Stack.of(this);
    this.function.addPermission('Alarms', {
      principal: new ServicePrincipal('lambda.alarms.cloudwatch.amazonaws.com'),
      sourceAccount: stack.account,
      sourceArn: stack.formatArn({ service: 'cloudwatch', resource: 'alarm:*' }),
    });
  }

  #rule(names: readonly string[]): void {
    new Rule(this, 'Raised', {
      description: 'Stops trading when one of these alarms is raised',
      eventPattern: {
        source: ['aws.cloudwatch'],
        detailType: ['CloudWatch Alarm State Change'],
        // A bus can be opened to other accounts, which name their alarms themselves.
        account: [Stack.of(this).account],
        detail: { alarmName: [...names], state: { value: ['ALARM'] } },
      },
      targets: [new LambdaFunction(this.function, { maxEventAge, deadLetterQueue: this.lost })],
    });
  }
}
