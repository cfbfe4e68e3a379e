/**
 * The audit of orders: a function that reads the journal's stream, a table to which it alone adds lines, and a bus on
 * which it alone tells what was settled.
 */

import { Duration } from 'aws-cdk-lib';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus, type IRuleTarget, type Rule } from 'aws-cdk-lib/aws-events';
import { Effect, Policy, PolicyStatement, StarPrincipal } from 'aws-cdk-lib/aws-iam';
import {
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type Function as LambdaFunction,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { writePart } from '../../functions/settings/parts.ts';
import { orderSettledName } from '../../lib/orders/settled-event.ts';
import { allow } from './group-function.ts';
import { busRule, lostQueue, protectBus } from './queues-and-buses.ts';
import type { Shared } from './shared.ts';
import { allowStream, allowTable, createTable } from './tables.ts';

/** Which events a rule takes; of several values any, of several members all. Nothing: all events. */
export interface OrderSettledFilter {
  /** Accounts as their keyed hashes, as `detail.account` and the gateway's log have them. */
  readonly account?: readonly string[];
  readonly state?: readonly ('accepted' | 'refused')[];
  readonly clientOrderId?: readonly string[];
}

/** What the function does to the audit's table; a test compares it with its code. */
export const orderAuditActions = ['PutItem'];

/** What would change or remove a line, or have DynamoDB remove it. A transaction is of these, too. */
const changing = [
  'UpdateItem',
  'DeleteItem',
  'BatchWriteItem',
  'PartiQLInsert',
  'PartiQLUpdate',
  'PartiQLDelete',
  'UpdateTimeToLive',
];

const batchSize = 100;

/**
 * Lines lie in DynamoDB, and not in objects with a lock: an order has three lines, each of which costs an eighth of an
 * object's write; the command reads a day of them by one query; and a stack that is to be removed with its tables can
 * be, which a locked object forbids. The lock is in the table's own policy, which counts for administrators, too: it
 * refuses each operation that changes or removes a line, and every writer but the function, whose code adds a line only
 * where there is none. An administrator who wants to change a line has to change the policy first, which CloudTrail shows.
 */
export class OrderAudit extends Construct {
  /** The lines. */
  readonly table: Table;
  /** Tells what was settled. */
  readonly bus: EventBus;
  /** The only one that adds lines. */
  readonly function: LambdaFunction;
  /** Which part of the stream was given up, because it could not be audited for a day. */
  readonly lost: Queue;

  /** @param journal the journal's table, with a stream of old and new images */
  constructor(scope: Construct, id: string, shared: Shared, journal: Table) {
    super(scope, id);
    const { removalPolicy } = shared;
    // What was ordered is said nowhere else for good.
    this.table = createTable(this, 'Table', { isSorted: true, isProtected: true, removalPolicy });
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: `${shared.name}-orders`,
      description: 'What became of orders whose outcome was not known',
    });
    this.lost = lostQueue(this);
    this.function = shared.worker(this, 'Auditor', 'order-audit', {
      policies: {
        ReadStream: [allowStream(journal)],
        NoteLost: [allow(['sqs:SendMessage'], this.lost.queueArn)],
        Publish: [allow(['events:PutEvents'], this.bus.eventBusArn)],
      },
      environment: {
        ...writePart('ORDER_AUDIT', { tableName: this.table.tableName, busName: this.bus.eventBusName }),
        ...writePart('METRICS', { secretId: shared.secret.secretArn }),
      },
    });
    this.#protect();
    this.#readStream(journal);
  }

  /** A rule of the bus. */
  rule(id: string, { account, state, clientOrderId }: OrderSettledFilter, target: IRuleTarget): Rule {
    const detail = { account, state, client_order_id: clientOrderId };
    return busRule(this, id, this.bus, [orderSettledName], detail, target);
  }

  #protect(): void {
    const { role } = this.function;
    if (!role) throw new TypeError('a function without a role');
    // Apart from the role: the table's policy names the role, so the role cannot name the table.
    new Policy(this, 'AddLines', {
      policyName: 'AddLines',
      roles: [role],
      statements: [allowTable(orderAuditActions, this.table.tableArn)],
    });
    const deny = (sid: string, actions: readonly string[], conditions?: object) =>
      this.table.addToResourcePolicy(
        new PolicyStatement({
          sid,
          effect: Effect.DENY,
          principals: [new StarPrincipal()],
          actions: actions.map((action) => `dynamodb:${action}`),
          // A table's policy cannot name the table, and speaks of no other.
          resources: ['*'],
          ...(conditions && { conditions }),
        }),
      );
    deny('LinesStayAsTheyAre', changing);
    deny('LinesOfTheAuditorAlone', orderAuditActions, { ArnNotEquals: { 'aws:PrincipalArn': role.roleArn } });
    protectBus(this.bus, 'EventsOfTheAuditorAlone', this.function);
  }

  /** From the first record, and each again until it is audited or a day old, when the stream forgets it. */
  #readStream({ tableStreamArn = '' }: Table): void {
    new EventSourceMapping(this, 'Changes', {
      target: this.function,
      eventSourceArn: tableStreamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize,
      maxBatchingWindow: Duration.seconds(1),
      // Counters of orders lie in the same table, change with each order, and say nothing that is audited.
      filters: ['NewImage', 'OldImage'].map((image) =>
        FilterCriteria.filter({ dynamodb: { [image]: { attempt: { S: FilterRule.exists() } } } }),
      ),
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      onFailure: { bind: () => ({ destination: this.lost.queueArn }) },
    });
  }
}
