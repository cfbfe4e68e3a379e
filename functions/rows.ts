/**
 * The functions, one row each: those behind the API, which answer operations, and the workers, which no caller asks. Their
 * constructs, least privilege, alarms, bundles, the local run, scenarios and pages follow from the row. `compositions.ts` joins
 * it to its composition, which the stack need not load, and `functions/<name>/handler.ts` to the ports of AWS: a file for each,
 * so that a bundle has no import of another function, and the compiler finds a port that is missing.
 */

import { type Group, groups } from '../lib/catalogue/groups.ts';
import { checkToken, getConfig, listAccounts } from '../lib/catalogue/index.ts';
import type { Operation } from '../lib/catalogue/operation.ts';
import { massCancelOperations } from '../lib/gateway/orders/cancels.ts';
import { orderReadOperations } from '../lib/gateway/orders/reads.ts';
import { subscriptionOperations } from '../lib/market-stream/calls.ts';
import { tradeEventNames } from '../lib/trade-events/bus-events.ts';
import { canaryTimeoutMs } from './compose/canary.ts';
import type { Parts } from './settings/parts.ts';

type RoutedOperation = Pick<Operation, 'group' | 'method' | 'sideEffect' | 'follows' | 'answeredBy'>;

export interface ApiRow {
  /** Group whose operations it answers; access, origins and plans are settings of the group. */
  readonly group: Group;
  /** Selects operations of the group for a function of their own. The others are answered by the function of the group's name. */
  readonly has?: (operation: RoutedOperation) => boolean;
  /** Default the group's. */
  readonly title?: string;
  /** Default API Gateway. For the table of functions in docs/architecture.md. */
  readonly startedBy?: string;
  /** Name in `compose/offers.ts` or `order-offers.ts`; absent for streams, which have a composition of their own. */
  readonly offer?: string;
  /** Its answers are streams: `live` says how many, and each occupies an instance for as long as it is open. */
  readonly streams?: true;
}

/**
 * Cancels and reads of orders have a function each, so that reads do not occupy the instances that place orders, and nothing
 * occupies those of cancels.
 */
const behindApi = {
  accounts: { group: 'accounts', offer: 'accounts' },
  fundamentals: { group: 'fundamentals', offer: 'fundamentals' },
  instruments: { group: 'instruments', offer: 'instruments' },
  'market-data': { group: 'market-data', offer: 'marketData' },
  'quote-streams': {
    group: 'market-data',
    has: ({ follows }) => follows !== undefined,
    title: 'Streams of quotes',
    startedBy: 'API Gateway, with `live`: each instance holds one stream, with `live.capacity` many',
    streams: true,
  },
  orders: { group: 'orders', offer: 'orders' },
  'order-cancels': {
    group: 'orders',
    has: ({ sideEffect }) => sideEffect?.cancels === true,
    title: 'Order cancels',
    offer: 'orderCancels',
  },
  'order-streams': {
    group: 'orders',
    has: ({ answeredBy }) => answeredBy === 'trade events',
    title: 'Streams of order events',
    startedBy: 'API Gateway, with `live.maxOrderStreams`: each instance holds one stream',
    streams: true,
  },
  'order-reads': {
    group: 'orders',
    // Chosen by method: a POST that changes nothing, such as a preview, stays with the placing that it prepares.
    has: ({ method }) => method === 'GET',
    title: 'Order reads',
    offer: 'orderReads',
  },
  screeners: { group: 'screeners', offer: 'screeners' },
  watchlists: { group: 'watchlists', offer: 'watchlists' },
} as const satisfies Readonly<Record<string, ApiRow>>;

export interface WorkerRow {
  /** Both make the function's description. */
  readonly title: string;
  /** Default that it signs requests and passes them on. */
  readonly purpose?: string;
  /** For the table of functions in docs/architecture.md. */
  readonly startedBy: string;
  /** Name in `compose/functions.ts`; absent where who starts it needs more than a handler of events. */
  readonly composition?: string;
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

const behindEvents = {
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
    composition: 'tokenCheck',
    asks: [checkToken, getConfig, listAccounts],
    // See the calls themselves.
    isUncounted: true,
    timeoutSeconds: undefined,
  },
  canary: {
    title: 'Canary',
    purpose: 'asks the API for a quote, as a client does',
    startedBy: 'a schedule, every 5 minutes',
    composition: 'canary',
    asks: [],
    timeoutSeconds: canaryTimeoutMs / 1000 + 5,
  },
  'trade-events': {
    ...listener,
    title: 'Trade events',
    purpose: 'listens to the upstream’s stream of events and publishes them',
    composition: 'tradeEvents',
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
    composition: 'marketStream',
    asks: subscriptionOperations,
    // A thousand changes a second take a twentieth of a processor of this machine's kind; this is a third of one in Lambda.
    memoryMiB: 512,
    needs: 'MARKET_STREAM',
  },
  'order-settlement': {
    title: 'Order settlement',
    purpose: 'finds out what became of orders whose answer was lost',
    startedBy: 'a schedule, each minute; `OrderChanged` on the bus of trade events',
    composition: 'settlement',
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
    composition: 'massCancels',
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
    composition: 'tradingStop',
    asks: [],
    isKeyed: true,
    // Two operations of ten seconds each, and again when another change came between.
    timeoutSeconds: 60,
  },
} as const satisfies Readonly<Record<string, WorkerRow>>;

/** A function is called as the folder of its handler. */
export type WorkerName = keyof typeof behindEvents;
export type ApiName = keyof typeof behindApi;
/** Function that answers operations: that of a group, or of a part of one. */
export type FunctionName = Group | ApiName;

export const apiRows: Readonly<Partial<Record<FunctionName, ApiRow>>> = behindApi;
export const workerRows: Readonly<Record<WorkerName, WorkerRow>> = behindEvents;

type Offered = Extract<(typeof behindApi)[ApiName], { offer: string }>['offer'];
type Composed = Extract<(typeof behindEvents)[WorkerName], { composition: string }>['composition'];
/** The same names in types that have them one by one, so that `compositions.ts` must find each. */
export const offeredBy = (name: FunctionName) => apiRows[name]?.offer as Offered | undefined;
export const composedOf = (name: WorkerName) => workerRows[name].composition as Composed | undefined;

/** Memory in MiB. */
export const memoryOf = (name: WorkerName): number => workerRows[name].memoryMiB ?? 256;

export const apiNames = Object.keys(behindApi) as readonly ApiName[];
export const workerNames = Object.keys(behindEvents) as readonly WorkerName[];

/**
 * Finds the function that API Gateway calls for an operation.
 *
 * @example
 * functionOf(cancelOrder); // 'order-cancels'
 */
export const functionOf = (operation: RoutedOperation): FunctionName =>
  apiNames.find((name) => groupOf(name) === operation.group && apiRows[name]?.has?.(operation)) ??
  operation.group;

/**
 * Selects the operations that a function answers.
 *
 * @example
 * operationsIn('order-cancels', operations); // [cancelOrder]
 */
export const operationsIn = (name: FunctionName, operations: readonly Operation[]): readonly Operation[] =>
  operations.filter((operation) => functionOf(operation) === name);

/**
 * Lists the functions of a group: the one with the group's name, then those of its parts.
 *
 * @example
 * functionsOf('orders'); // ['orders', 'order-cancels', 'order-streams', 'order-reads']
 */
export const functionsOf = (group: Group): readonly FunctionName[] => [
  group,
  ...apiNames.filter((name) => groupOf(name) === group && apiRows[name]?.has),
];

/** Finds the group whose operations a function answers. */
export const groupOf = (name: FunctionName): Group => apiRows[name]?.group ?? (name as Group);

/** Title of a function behind the API, for people. */
export const titleOf = (name: FunctionName): string => apiRows[name]?.title ?? groups[groupOf(name)].title;
