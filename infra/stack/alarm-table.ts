/**
 * Every alarm, as data: what it watches, when it rings and why then, and what an operator does first. The construct, the
 * alarms' descriptions, the table of docs/operation.md and the tests are made of these rows.
 */

import type { OwnMetric } from '../../functions/log/metrics.ts';
import type { ApiName, WorkerName } from '../../functions/rows.ts';

/** What a metric is of: parts of a deployment, each of which is there or not. A function is called as its folder. */
export type AlarmSubject =
  | ApiName
  | WorkerName
  | 'secret'
  /** The same, where quotes are shared. */
  | 'quotes'
  | 'limiter-table'
  | 'journal-table'
  | 'controls-table'
  | 'order-audit-lost'
  | 'trading-stop-lost'
  | 'lookup-dead-letters'
  /** All functions behind the API, in one sum: CloudWatch adds up ten metrics in an alarm at most. */
  | 'api-functions'
  | 'api'
  | 'account';

/** Metrics of the gateway, and of AWS, whose namespace follows from the subject. */
type WatchedMetric =
  | OwnMetric
  | 'Errors'
  | 'Throttles'
  | 'IteratorAge'
  | 'ApproximateNumberOfMessagesVisible'
  | '5XXError'
  | 'ConcurrentExecutions';

/** A figure that CloudWatch works out of several metrics of one subject. It is missing while one of them is. */
export interface MetricFormula<Name extends string = WatchedMetric> {
  /** Metrics by their names in the formula. */
  readonly metrics: Readonly<Record<string, Name>>;
  /** CloudWatch's metric math: `IF(reads >= 100, hits / reads)` is a ratio, and missing below a hundred reads. */
  readonly formula: string;
  /** The figure in words, in Markdown. */
  readonly words: string;
}

export interface AlarmRow {
  readonly metric: WatchedMetric | MetricFormula;
  readonly of: AlarmSubject;
  /** Over a period. */
  readonly statistic: 'Sum' | 'Maximum' | 'Minimum' | 'Average';
  readonly minutes: number;
  /** How many periods are looked at, all of which must breach unless `breaching` says how many. Default 1. */
  readonly periods?: number;
  readonly breaching?: number;
  /** Default `>=`. */
  readonly comparison?: keyof typeof comparisons;
  /** A number, or the property of the stage that has it. */
  readonly threshold: number | 'accessToken.alarmDaysBefore';
  /** What a period without figures means. Default that all is well; `breaching` of what speaks each minute; `same`: as before. */
  readonly missing?: 'breaching' | 'same';
  /** What is true when it rings, for a person. */
  readonly says: string;
  /** Why this threshold and this time. */
  readonly why: string;
  /** The first command to run; STAGE stands for the stage. Default `countersign status`. */
  readonly first?: string;
  /** The heading in docs/runbook.md. */
  readonly runbook: string;
  /** The part whose own topic hears of it in place of the stack's. */
  readonly part?: 'limiter' | 'events' | 'accessToken' | 'tradeEvents';
}

/** The figure of a row as a formula, also where it is one metric. */
export const formulaOf = <Name extends string>(metric: Name | MetricFormula<Name>): MetricFormula<Name> =>
  typeof metric === 'string'
    ? { metrics: { value: metric }, formula: 'value', words: `\`${metric}\`` }
    : metric;

export const comparisons = {
  '>=': (value: number, threshold: number) => value >= threshold,
  '>': (value: number, threshold: number) => value > threshold,
  '<': (value: number, threshold: number) => value < threshold,
  '<=': (value: number, threshold: number) => value <= threshold,
} as const;

/** What most of them are: one value of 1 or more, of something that never happens while all is well. */
const everRaised = { statistic: 'Sum', minutes: 5, threshold: 1 } as const;
const ever = { ...everRaised, why: 'it never happens while all is well' } as const;

/** In three minutes, one after the other. */
const repeated = { statistic: 'Sum', minutes: 1, periods: 3, threshold: 1 } as const;

/** A queue's messages are counted each minute, and stay until a person takes them out. */
const anyLost = {
  metric: 'ApproximateNumberOfMessagesVisible',
  statistic: 'Maximum',
  minutes: 1,
  threshold: 1,
  why: 'each message is one too many',
} as const;

const stop = 'countersign trading stop --stage STAGE --reason alarm';
const audit = 'countersign orders audit --stage STAGE';

const rows = {
  'upstream-failing': {
    metric: 'UpstreamFailed',
    of: 'secret',
    statistic: 'Sum',
    minutes: 1,
    periods: 5,
    breaching: 3,
    threshold: 1,
    says: 'The upstream does not answer, or answers with failures: reads fail or are late, and orders may end with an unknown outcome.',
    why: 'failed reads are sent again, so failures in three minutes out of five are no coincidence',
    runbook: 'The upstream is down',
  },
  'upstream-refusing': {
    metric: 'UpstreamRefused',
    of: 'secret',
    ...everRaised,
    periods: 2,
    says: 'The upstream refuses the gateway’s signature: the member cause in the log says why.',
    why: 'after a change of the secret, one request may be refused; five minutes later none is',
    runbook: 'The upstream refuses the gateway',
  },
  'quotes-stale': {
    metric: 'QuotesStale',
    of: 'quotes',
    ...repeated,
    says: 'Callers get quotes that are older than cache.snapshots.staleAfterSeconds, because no newer ones come.',
    why: 'a single refresh may fail, but there are more than ten refreshes in three minutes',
    runbook: 'Quotes are stale',
  },
  'limit-used-up': {
    metric: 'BudgetRefused',
    of: 'market-data',
    statistic: 'Sum',
    minutes: 5,
    periods: 3,
    threshold: 1,
    says: 'For a quarter of an hour requests for market data have been refused with budget_used_up, because more arrive than the upstream’s limit allows.',
    why: 'a burst is over within one window of the limit; a quarter of an hour means that the limit is too small for the load',
    runbook: 'Everything is 429',
  },
  'limit-refused': {
    metric: 'UpstreamRateLimited',
    of: 'limiter-table',
    ...ever,
    says: 'The upstream answered 429 although the gateway keeps upstream.limits: the log event upstream_rate_limited says what follows from it.',
    first: 'countersign limits --stage STAGE',
    runbook: 'Everything is 429',
    part: 'limiter',
  },
  'limits-tightened': {
    metric: 'LimitsTightened',
    of: 'limiter-table',
    ...everRaised,
    statistic: 'Maximum',
    says: 'The functions keep tighter limits than upstream.limits, because the upstream refused requests that upstream.limits allowed.',
    why: 'the functions report the tighter limits each minute until an operator ends them',
    first: 'countersign limits --stage STAGE',
    runbook: 'Everything is 429',
    part: 'limiter',
  },
  'answers-failing': {
    metric: '5XXError',
    of: 'api',
    statistic: 'Average',
    minutes: 5,
    periods: 2,
    threshold: 0.05,
    says: 'One answer in twenty or more is a 5xx. If other alarms ring, they may show the cause: countersign status lists the cause first.',
    why: 'single failures come and go, but one in twenty over ten minutes does not',
    runbook: 'A bad deployment',
  },
  'functions-failing': {
    metric: 'Errors',
    of: 'api-functions',
    ...everRaised,
    says: 'A function behind the API crashed or ran out of time; functions that hold streams do not count. The log of the function says how it ended.',
    why: 'a function answers every fault itself, so an error is a defect',
    runbook: 'A bad deployment',
  },
  'functions-throttled': {
    metric: 'Throttles',
    of: 'api-functions',
    ...repeated,
    says: 'Lambda has no instance free for requests: they are answered 500 gateway_error with Retry-After.',
    why: 'an instance starts within seconds; throttling for three minutes means that there are too few instances',
    first: 'countersign preflight --stage STAGE',
    runbook: 'No instance is free',
  },
  'concurrency-used-up': {
    metric: {
      metrics: { used: 'ConcurrentExecutions' },
      formula: 'used / SERVICE_QUOTA(used) * 100',
      words: '`ConcurrentExecutions` in percent of the quota',
    },
    of: 'account',
    statistic: 'Maximum',
    minutes: 5,
    threshold: 80,
    says: 'The account uses 80 percent or more of the instances that Lambda’s quota allows, for all of its functions.',
    why: 'AWS takes hours to raise the quota',
    first: 'countersign preflight --stage STAGE',
    runbook: 'No instance is free',
  },
  'canary-failing': {
    metric: 'Errors',
    of: 'canary',
    statistic: 'Minimum',
    minutes: 15,
    threshold: 1,
    missing: 'breaching',
    says: 'For a quarter of an hour the canary has got no quote from the API’s public URL, or has not run. Its log says why, in the event canary.',
    why: 'the minimum is 1 only when every request failed; a single one may fail by chance',
    runbook: 'The canary gets no quote',
  },
  'store-throttled': {
    metric: 'StoreThrottled',
    of: 'secret',
    ...repeated,
    says: 'DynamoDB throttles a table: the log event store_throttled names it.',
    why: 'a table adapts to a burst within a minute or two',
    runbook: 'A table cannot be used',
  },
  'journal-failed': {
    metric: 'OrderJournalFailed',
    of: 'journal-table',
    ...ever,
    says: 'The journal of orders cannot be written or read: orders are refused with journal_unavailable and not sent, cancels are sent. The log event journal_failed says why.',
    runbook: 'A table cannot be used',
  },
  'trading-limits-unread': {
    metric: 'TradingControlsNotRead',
    of: 'controls-table',
    ...ever,
    says: 'Limits and stops of trading cannot be read: orders are refused with trading_limits_unavailable and not sent, cancels are sent. The log event trading_controls_not_read says why.',
    first: 'countersign trading limits --stage STAGE',
    runbook: 'All orders are blocked',
  },
  'orders-unknown': {
    metric: 'OrdersUnknownSeconds',
    of: 'order-settlement',
    statistic: 'Maximum',
    minutes: 5,
    threshold: 20 * 60,
    missing: 'breaching',
    says: 'The outcome of an order has been unknown for twenty minutes, or the function that settles orders does not run. Its log says why, in the event order_not_read.',
    why: 'an order that never arrived is settled after about twelve minutes',
    first: `${audit} --unsettled`,
    runbook: 'Orders stay unknown',
  },
  'orders-closed': {
    metric: 'OrdersClosed',
    of: 'order-settlement',
    statistic: 'Maximum',
    minutes: 5,
    threshold: 1,
    says: 'A table of orders, limits or users was restored to an earlier time: orders are refused with orders_closed until the gateway or an operator has checked the table. The log event orders_closed says what the gateway waits for.',
    why: 'all orders are refused until the alarm ends',
    first: 'countersign orders restored --stage STAGE',
    runbook: 'Tables are restored',
  },
  'orders-left-open': {
    metric: 'MassCancelSeconds',
    of: 'mass-cancels',
    statistic: 'Maximum',
    minutes: 1,
    periods: 10,
    comparison: '>',
    threshold: 0,
    missing: 'breaching',
    says: 'One of these has been true for ten minutes: orders that an operator, an alarm or a check asked to cancel are still open; the function that cancels them cannot read which orders are open; or it does not run. Its log says why, in the event open_order_not_cancelled.',
    why: 'one run normally cancels the open orders, and the next sees that they are cancelled; after ten minutes, ten runs have tried',
    runbook: 'Open orders are not cancelled',
  },
  'cancel-not-requested': {
    metric: 'MassCancelNotRequested',
    of: 'controls-table',
    ...ever,
    says: 'A check whose action is block_and_cancel blocked an order, and the request to cancel what is open could not be written: nothing is cancelled. The log event mass_cancel_not_requested says why.',
    first: 'countersign trading stop --stage STAGE --reason checks --cancel-open',
    runbook: 'Open orders are not cancelled',
  },
  'stop-failed': {
    metric: 'Errors',
    of: 'trading-stop',
    statistic: 'Sum',
    minutes: 1,
    threshold: 1,
    says: 'An alarm tried to stop trading, but the function failed: trading goes on. Lambda tries again after one minute, and once more after two; the log event trading_not_stopped says why.',
    why: 'a stop is urgent',
    first: stop,
    runbook: 'An alarm did not stop trading',
  },
  'stop-lost': {
    ...anyLost,
    of: 'trading-stop-lost',
    says: 'An alarm tried to stop trading, and every attempt failed: trading goes on. The message in the queue is the event of that alarm.',
    first: stop,
    runbook: 'An alarm did not stop trading',
  },
  'audit-behind': {
    metric: 'IteratorAge',
    of: 'order-audit',
    statistic: 'Maximum',
    minutes: 5,
    threshold: 5 * 60_000,
    says: 'The audit of orders is five minutes behind the journal: lines and OrderSettled events are late. The log events order_not_audited and order_event_not_published say why.',
    why: 'a change is audited within seconds; the stream forgets after a day',
    first: audit,
    runbook: 'The audit of orders is late',
  },
  'audit-failed': {
    metric: 'Errors',
    of: 'order-audit',
    ...everRaised,
    says: 'The function that audits orders fails as a whole; its log says why.',
    why: 'the function does not fail over a single change that it cannot audit, so an error is a defect',
    first: audit,
    runbook: 'The audit of orders is late',
  },
  'audit-lost': {
    ...anyLost,
    of: 'order-audit-lost',
    minutes: 5,
    says: 'Changes of the journal have no line in the audit, and their events are gone from the journal’s stream; a message in the queue names the part of the stream. The journal itself has the last state of each order.',
    first: audit,
    runbook: 'The audit of orders is late',
  },
  'lookups-lost': {
    ...anyLost,
    of: 'lookup-dead-letters',
    says: 'A lookup by event could not be served. Its message in the queue of dead letters says why, in the attribute reason.',
    runbook: 'A lookup was lost',
    part: 'events',
  },
  'token-ending': {
    metric: 'TokenDaysLeft',
    of: 'access-token',
    statistic: 'Minimum',
    minutes: 5,
    comparison: '<=',
    threshold: 'accessToken.alarmDaysBefore',
    missing: 'same',
    says: 'The access token has few days left, or does not work.',
    why: 'the token’s owner has to confirm a new one, which may take days; the alarm changes only when a check runs',
    first: 'countersign token --stage STAGE',
    runbook: 'The access token ends',
    part: 'accessToken',
  },
  'token-refused': {
    metric: 'AccessTokenRefused',
    of: 'secret',
    ...everRaised,
    says: 'The upstream refused the access token of a request: it refuses all requests until the secret has another token.',
    why: 'one refusal is enough: the scheduled check might notice only hours later',
    first: 'countersign token --stage STAGE',
    runbook: 'The access token ends',
    part: 'accessToken',
  },
  'token-unchecked': {
    metric: 'Errors',
    of: 'access-token',
    statistic: 'Minimum',
    minutes: 24 * 60,
    threshold: 1,
    missing: 'same',
    says: 'The access token could not be checked for a day: the function’s log says why, in the event token_not_checked.',
    why: 'a day’s minimum is 1 only if every check of that day failed',
    first: 'countersign token --stage STAGE',
    runbook: 'The access token ends',
    part: 'accessToken',
  },
  'trade-events-unconnected': {
    metric: 'TradeEventsConnected',
    of: 'trade-events',
    statistic: 'Maximum',
    minutes: 1,
    periods: 2,
    comparison: '<',
    threshold: 1,
    missing: 'breaching',
    says: 'The listener has had no stream of trade events for two minutes: events are late until it has one. Its log says why, in the event trade_stream_ended or trade_events_failed.',
    why: 'when one listener takes over from another, the gap lasts seconds',
    runbook: 'Trade events are late',
    part: 'tradeEvents',
  },
  'trade-events-refused': {
    metric: 'TradeEventsRefused',
    of: 'trade-events',
    ...everRaised,
    statistic: 'Maximum',
    says: 'The upstream refuses the app secret or the access token on the event stream, or there is no secret to read. The listener tries a new secret or token within a minute, and retries the refused one at longer and longer intervals.',
    why: 'it never happens with a good secret',
    runbook: 'Trade events are late',
    part: 'tradeEvents',
  },
  'trade-events-unpublished': {
    metric: 'TradeEventsUnpublished',
    of: 'trade-events',
    ...everRaised,
    statistic: 'Minimum',
    says: 'The bus has taken no trade event for five minutes, although some wait: they stay in the table until it does.',
    why: 'whenever the bus takes an event, the metric is 0, so a minimum of 1 means that it took none',
    runbook: 'Trade events are late',
    part: 'tradeEvents',
  },
  'market-stream-away': {
    metric: 'MarketStreamAway',
    of: 'market-stream',
    statistic: 'Minimum',
    minutes: 1,
    periods: 5,
    threshold: 1,
    missing: 'breaching',
    says: 'For five minutes the upstream’s channel of quotes has carried no symbol that clients ask for: the gateway fetches quotes, which are older. The function’s log says why, in the events market_stream_failed, market_stream_refused and market_stream_mute.',
    why: 'a hand-over takes seconds; if a listener dies, the upstream counts its connections for another minute and refuses new ones',
    runbook: 'Quotes are stale',
  },
} as const satisfies Readonly<Record<string, AlarmRow>>;

export type AlarmName = keyof typeof rows;

/** Alarms by the name that CloudWatch shows behind the deployment's, as in `Countersign-prod-upstream-failing`. */
export const alarmTable: Readonly<Record<AlarmName, AlarmRow>> = rows;

export const alarmRows = Object.entries(alarmTable) as readonly (readonly [AlarmName, AlarmRow])[];

const upstreamFaults = ['upstream-failing', 'upstream-refusing', 'limit-refused', 'token-refused'] as const;
const functionFaults = ['functions-failing', 'functions-throttled', 'concurrency-used-up'] as const;
/** Orders are refused with 503. */
const orderFaults = ['journal-failed', 'trading-limits-unread', 'orders-closed', 'store-throttled'] as const;

/** One cause may raise several alarms: those that may follow from others, with these others. */
const mayFollowFrom: Readonly<Partial<Record<AlarmName, readonly AlarmName[]>>> = {
  'functions-throttled': ['concurrency-used-up'],
  'limit-used-up': ['limit-refused', 'limits-tightened'],
  'limits-tightened': ['limit-refused'],
  'quotes-stale': [...upstreamFaults, 'limit-used-up', 'limits-tightened'],
  'answers-failing': [...upstreamFaults, ...functionFaults, ...orderFaults],
  'canary-failing': [...upstreamFaults, ...functionFaults],
  'journal-failed': ['store-throttled'],
  'trading-limits-unread': ['store-throttled'],
  'orders-unknown': ['upstream-failing', 'upstream-refusing', 'token-refused'],
  'orders-left-open': ['upstream-failing', 'upstream-refusing', 'token-refused'],
  'stop-lost': ['stop-failed'],
  'audit-behind': ['audit-failed'],
  'audit-lost': ['audit-failed'],
  'token-ending': ['token-refused'],
  'token-unchecked': ['upstream-failing', 'upstream-refusing'],
  'trade-events-refused': ['upstream-refusing', 'token-refused'],
  'trade-events-unconnected': ['upstream-failing', 'trade-events-refused'],
  'market-stream-away': ['upstream-failing', 'upstream-refusing', 'token-refused'],
};

/** Those of the alarms that ring which this one may follow from: an operator begins with them. */
export const causesOf = (name: AlarmName, ringing: readonly string[]): readonly AlarmName[] =>
  (mayFollowFrom[name] ?? []).filter((one) => ringing.includes(one));

/** A heading's anchor, as GitHub makes it of these: words alone. */
export const runbookAnchor = (heading: string): string => heading.toLowerCase().replaceAll(' ', '-');

export const firstCommand = (
  { first = 'countersign status --stage STAGE' }: AlarmRow,
  options = '--stage STAGE',
): string => first.replace('--stage STAGE', options);

/** What CloudWatch shows of an alarm, in ASCII, as templates are. */
export const describeAlarm = (row: AlarmRow, stage: string): string =>
  `${row.says.replaceAll('’', "'")}\n\nFirst: ${firstCommand(row, `--stage ${stage}`)}\n\nThen: docs/runbook.md#${runbookAnchor(row.runbook)}`;

/** Synth and preflight say so. */
export const noneIsTold =
  'Nobody is told when an alarm rings: put alarmEmail into the stage, or alarmTopic with the ARN of an SNS topic.';
