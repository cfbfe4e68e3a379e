/**
 * Trade and position events: a function that listens to the upstream's stream, started every minute, a table for what it
 * knows, and a bus that it alone puts events on.
 */

import { AttributeType, ProjectionType, type Table } from 'aws-cdk-lib/aws-dynamodb';
import { EventBus, type IRuleTarget, type Rule } from 'aws-cdk-lib/aws-events';
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { workAttribute, workIndex } from '../../functions/aws/dynamo-trade-event-store.ts';
import { writePart } from '../../functions/settings/parts.ts';
import type { EventHistory } from './event-history.ts';
import { allow, type FunctionAccess } from './group-function.ts';
import { busRule, protectBus } from './queues-and-buses.ts';
import type { Shared } from './shared.ts';
import { allowTable, createTable } from './tables.ts';
import type { ResolvedTradeEvents } from './trade-events-config.ts';

/** Which events a rule takes; of several values any, of several members all. Nothing: all events. */
export interface TradeEventFilter {
  readonly detailType?: readonly ('OrderChanged' | 'PositionChanged' | 'TradeEventReceived')[];
  /** Accounts as their keyed hashes, as `detail.account` and the gateway's log have them. */
  readonly account?: readonly string[];
  readonly symbol?: readonly string[];
  /** As the upstream names them, such as `FINAL_FILLED`. What was reconciled has none. */
  readonly scene?: readonly string[];
  /** As the upstream names them, such as `FILLED`. */
  readonly status?: readonly string[];
  readonly clientOrderId?: readonly string[];
  /** True: only what no stream delivered. */
  readonly reconciled?: boolean;
}

/** What the function does to its table, and to the table's index; a test compares it with its code. */
const tradeEventActions = ['BatchGetItem', 'PutItem', 'UpdateItem'];
const tradeEventIndexActions = ['Query'];

export class TradeEvents extends Construct {
  /** Gives events. */
  readonly bus: EventBus;
  /** The listener. */
  readonly function: Lambda;
  /** What is known of orders, and events that the bus has not taken. */
  readonly table: Table;

  /** @param history there where streams tell events */
  constructor(
    scope: Construct,
    id: string,
    shared: Shared,
    config: ResolvedTradeEvents,
    history: EventHistory | undefined,
  ) {
    super(scope, id);
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: `${shared.name}-trade-events`,
      description: 'Changes of orders and positions, as the upstream told them',
    });
    this.table = createTable(this, 'Table', {
      isSorted: true,
      expires: true,
      // With backups: without what was known, changes that a gap hid would not be found.
      removalPolicy: shared.removalPolicy,
    });
    this.table.addLocalSecondaryIndex({
      indexName: workIndex,
      sortKey: { name: workAttribute, type: AttributeType.STRING },
      projectionType: ProjectionType.ALL,
    });
    this.function = this.#function(shared, config, history?.keeping);
    protectBus(this.bus, 'EventsOfTheListenerAlone', this.function);
  }

  /** A rule of the bus. */
  rule(id: string, filter: TradeEventFilter, target: IRuleTarget): Rule {
    const { detailType = ['OrderChanged', 'PositionChanged', 'TradeEventReceived'] } = filter;
    const { account, symbol, scene, status, clientOrderId, reconciled } = filter;
    const detail = {
      account,
      symbol,
      scene,
      status,
      client_order_id: clientOrderId,
      reconciled: reconciled === undefined ? undefined : [reconciled],
    };
    return busRule(this, id, this.bus, detailType, detail, target);
  }

  #function(shared: Shared, config: ResolvedTradeEvents, keeping: FunctionAccess | undefined): Lambda {
    return shared.worker(this, 'Listener', 'trade-events', {
      access: [keeping],
      policies: {
        KeepEvents: [
          allowTable(tradeEventActions, this.table.tableArn),
          allowTable(tradeEventIndexActions, `${this.table.tableArn}/index/${workIndex}`),
        ],
        Publish: [allow(['events:PutEvents'], this.bus.eventBusArn)],
      },
      variables: writePart('TRADE_EVENTS', {
        url: config.url,
        tableName: this.table.tableName,
        busName: this.bus.eventBusName,
        compareEveryMs: config.compareEveryMs,
      }),
      reservedConcurrency: config.reservedConcurrency,
    });
  }
}
