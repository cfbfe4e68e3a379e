/**
 * The functions that no caller asks, one row each. Their constructs, least privilege, alarms, the local run, scenarios and
 * pages follow from the row. `workers.ts` joins it to its composition, which the stack need not load.
 */

import { checkToken, getConfig, listAccounts } from '../lib/catalogue/index.ts';
import type { Operation } from '../lib/catalogue/operation.ts';
import { massCancelOperations } from '../lib/gateway/order-cancels.ts';
import { orderReadOperations } from '../lib/gateway/order-reads.ts';
import { subscriptionOperations } from '../lib/market-stream/calls.ts';
import { tradeEventNames } from '../lib/trade-events/schemas.ts';
import { canaryTimeoutMs } from './compose/canary.ts';
import type { Parts } from './settings/parts.ts';

export interface WorkerRow {
  /** Both make the function's description. */
  readonly title: string;
  /** Default that it signs requests and passes them on. */
  readonly purpose?: string;
  /** For the table of functions in docs/architecture.md. */
  readonly startedBy: string;
  /** Operations that the worker calls at the upstream. With any, it may read the app secret. */
  readonly asks: readonly Operation[];
  /** The requests of the worker need no permit of the limiter. */
  readonly isUncounted?: true;
  /** The worker may read the identity key, because it names or unseals users and orders itself. */
  readonly isKeyed?: true;
  /** Undefined where the stage's configuration decides. */
  readonly timeoutSeconds: number | undefined;
  /** Default 256. */
  readonly memoryMiB?: number;
  /** A rule starts it each minute; its description. */
  readonly eachMinute?: string;
  /** An instance runs until the next one takes over its lease. */
  readonly listens?: true;
  /** A variable without which there is no such worker. */
  readonly needs?: keyof Parts;
  /** Trade events that start it, too. */
  readonly events?: readonly (typeof tradeEventNames.order)[];
  /** A table whose stream starts it, too. */
  readonly wokenBy?: 'trading-controls';
}

/** Lambda's bound is 900 s, of which a listener listens for about 14 minutes. */
const listener = {
  startedBy: 'a schedule, each minute; runs 14 of 15 minutes',
  timeoutSeconds: 900,
  eachMinute: 'Starts a listener, which ends at once where another one listens',
  listens: true,
} as const;
/** Until the next run starts. */
const aMinute = 60;

const rows = {
  authorizer: {
    title: 'Authorizer',
    purpose: 'refuses requests whose access token is wrong',
    startedBy: 'API Gateway, for a group with `jwt`',
    asks: [],
    // Two reads at the issuer, where it has no keys yet.
    timeoutSeconds: 10,
  },
  'quote-lookup': {
    title: 'Lookups by event',
    startedBy: 'the queues of lookups',
    // Reads of the groups that the stage opens by event.
    asks: [],
    timeoutSeconds: undefined,
  },
  'access-token': {
    title: 'Access token',
    startedBy: 'a schedule, every 6 hours',
    asks: [checkToken, getConfig, listAccounts],
    // See the calls themselves.
    isUncounted: true,
    timeoutSeconds: undefined,
  },
  canary: {
    title: 'Canary',
    purpose: 'asks the API for a quote, as a client does',
    startedBy: 'a schedule, every 5 minutes',
    asks: [],
    timeoutSeconds: canaryTimeoutMs / 1000 + 5,
  },
  'trade-events': {
    ...listener,
    title: 'Trade events',
    purpose: 'listens to the upstream’s stream of events and publishes them',
    asks: orderReadOperations,
    isKeyed: true,
    // It uses 76 MB, and waits nearly always. But with 128 it would have a fourteenth of a processor, and a burst of a
    // hundred changes would take some six seconds; with this half of that, and a hand-over less than a second.
    memoryMiB: 256,
    needs: 'TRADE_EVENTS',
  },
  'market-stream': {
    ...listener,
    title: 'Market stream',
    purpose: 'listens to the upstream’s channel of quotes',
    asks: subscriptionOperations,
    // A thousand changes a second take a twentieth of a processor of this machine's kind; this is a third of one in Lambda.
    memoryMiB: 512,
    needs: 'MARKET_STREAM',
  },
  'order-settlement': {
    title: 'Order settlement',
    purpose: 'finds out what became of orders whose answer was lost',
    startedBy: 'a schedule, each minute; `OrderChanged` on the bus of trade events',
    asks: orderReadOperations,
    isKeyed: true,
    timeoutSeconds: aMinute,
    eachMinute: 'Settles orders whose outcome is unknown',
    events: [tradeEventNames.order],
  },
  'order-audit': {
    title: 'Audit of orders',
    purpose: 'writes a line for each change of the journal, and tells what was settled',
    startedBy: 'the stream of `OrderJournalTable`',
    asks: [],
    isKeyed: true,
    // A hundred lines are written and their events put within some seconds, also while DynamoDB throttles.
    timeoutSeconds: 60,
  },
  'mass-cancels': {
    title: 'Mass cancels',
    purpose: 'cancels what is open when an operator or a check asks for it',
    startedBy: 'the stream of `TradingControlsTable`; a schedule, each minute',
    asks: massCancelOperations,
    isKeyed: true,
    timeoutSeconds: aMinute,
    eachMinute: 'Cancels what is open where an operator or a check asked for it',
    wokenBy: 'trading-controls',
  },
  'trading-stop': {
    title: 'Trading stop',
    purpose: 'stops trading for an alarm',
    startedBy: 'a rule for alarms; CloudWatch, as an alarm’s action',
    asks: [],
    isKeyed: true,
    // Two operations of ten seconds each, and again when another change came between.
    timeoutSeconds: 60,
  },
} as const satisfies Readonly<Record<string, WorkerRow>>;

/** A worker is called as the folder of its handler. */
export type WorkerName = keyof typeof rows;

export const workerRows: Readonly<Record<WorkerName, WorkerRow>> = rows;

export const workerNames = Object.keys(rows) as readonly WorkerName[];
