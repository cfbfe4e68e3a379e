/** Figures from which docs/cost.md is computed. A new measurement or price is changed here only. */

/** Prices in dollars, us-east-1, without free tiers and discounts. */
export const prices = {
  /** Requests to a REST API, the first 333 million a month. */
  apiGatewayPerMillion: 3.5,
  lambdaPerMillion: 0.2,
  lambdaPerGbSecond: { x86_64: 0.0000166667, arm64: 0.0000133334 },
  /** DynamoDB on demand. */
  readUnitsPerMillion: 0.125,
  writeUnitsPerMillion: 0.625,
  transferOutPerGb: 0.09,
  logsPerGb: 0.5,
  secretPerMonth: 0.4,
  secretReadsPer10000: 0.05,
  metricPerMonth: 0.3,
  /** Events that an application puts, each of up to 64 kB. */
  eventsPerMillion: 1,
  alarmPerMonth: 0.1,
  storedPerGbMonth: 0.25,
  restorablePerGbMonth: 0.2,
  /** Standard queues; a send, a receive or a delete of up to ten messages is one request. */
  queuePerMillion: 0.4,
  /** EC2: half of an m7g.large, which has two at $0.0816. Lambda chooses the type; similar ones cost about as much. */
  vCpuHour: 0.0408,
  /** Lambda's surcharge on a managed instance, as a share of the instance's price. */
  managementFee: 0.15,
  /** NAT gateway with its public address, and the data that passes through it. */
  natHour: 0.045 + 0.005,
  natPerGb: 0.045,
  /** AWS WAF: the web ACL, each of its rules, and the requests that it inspects. */
  webAclPerMonth: 5,
  webAclRulePerMonth: 1,
  webAclPerMillion: 0.6,
  /** KMS: a customer-managed key, and requests to it. */
  keyPerMonth: 1,
  keyRequestsPer10000: 0.03,
  /** Firehose's ingestion; the destination costs apart. */
  firehosePerGb: 0.029,
} as const;

/** Load of clients that each read twenty symbols every five seconds. */
export interface Situation {
  readonly name: string;
  readonly clients: number;
  readonly readsPerSecond: number;
  /** Requests to the upstream, which depend on time and not on reads. */
  readonly upstreamPerSecond: number;
  /** DynamoDB's units for each read, for the snapshot cache. */
  readonly snapshots: Units;
  /** DynamoDB's units for each request to the upstream, for the limiter. */
  readonly limiter: Units;
  /** Billed duration of Lambda for each read. */
  readonly billedMs: number;
  /**
   * Requests repeated after a refusal, for each read that is answered: 0.02 is one in fifty. Those that API Gateway
   * throttles (429 `throttled`) do not count, because AWS does not charge for them. Default 0.
   */
  readonly repeated?: number;
}

export interface Units {
  readonly readUnits: number;
  readonly writeUnits: number;
}

/**
 * Measured by `npm run study -- snapshots plain mixed clients-100`, from a cold start, within the platform's bounds. A
 * write to the limiter is one or two units, because its item is about a kilobyte. Lambda's time is assumed, because one
 * machine cannot measure it.
 */
export const situations: readonly Situation[] = [
  {
    name: '10,000 clients',
    clients: 10_000,
    readsPerSecond: 2000,
    upstreamPerSecond: 2870 / 600,
    snapshots: { readUnits: 0.162, writeUnits: 0.033 },
    limiter: { readUnits: 0.57, writeUnits: 1.54 },
    billedMs: 10,
  },
  {
    name: '10,000 clients, five views',
    clients: 10_000,
    readsPerSecond: 2000,
    upstreamPerSecond: 2871 / 600,
    snapshots: { readUnits: 0.2, writeUnits: 0.055 },
    limiter: { readUnits: 0.58, writeUnits: 1.48 },
    billedMs: 10,
  },
  {
    name: '100 clients',
    clients: 100,
    readsPerSecond: 20,
    upstreamPerSecond: 851 / 180,
    snapshots: { readUnits: 4.197, writeUnits: 2.542 },
    limiter: { readUnits: 0.63, writeUnits: 2.42 },
    billedMs: 50,
  },
];

/** Batches in which lookups by event arrive. */
export interface LookupSituation {
  readonly name: string;
  /** Lookups in one call of the function. */
  readonly lookupsPerBatch: number;
  /** Billed duration of a batch, assumed like that of reads. */
  readonly billedMs: number;
}

export const lookupSituations: readonly LookupSituation[] = [
  { name: 'one at a time', lookupsPerBatch: 1, billedMs: 60 },
  { name: 'fifty at a time', lookupsPerBatch: 50, billedMs: 500 },
];

/** Spread of users' requests about accounts over instances, each of which caches a user's records. */
export interface UserSituation {
  readonly name: string;
  /** Share of the requests for which the instance reads the users' table. */
  readonly directoryReads: number;
}

/** Seconds for which an instance caches a user's records. */
const recordSeconds = 30;

export const userSituations: readonly UserSituation[] = [
  { name: 'one instance answers', directoryReads: 5 / recordSeconds },
  { name: 'each time another', directoryReads: 1 },
];

/**
 * Check of a user: the records of the user, the token and the app, each a strongly consistent read of one unit. API
 * Gateway caches the authorizer's answer. Lambda's time is assumed.
 */
export const users = {
  readUnits: 3,
  authorizerKeptSeconds: 60,
  authorizerMs: 10,
} as const;

/**
 * Write units of an order that is sent once: its item is written before and after, and put into and removed from the
 * index of unsettled orders. DynamoDB charges whole kilobytes, and an entry takes less; a test measures it.
 */
export const orderWrites = { begin: 1, finish: 1, index: 2 } as const;

/**
 * Write units of an order that one counter counts. One transaction writes entry and counter at the beginning and one at
 * the end, and each of their writes costs twice. The index of counted orders is written at both, too.
 */
export const countedOrderWrites = { begin: 4, finish: 1, release: 4, index: 4 } as const;

/**
 * Audit of an order that is sent once: a line when it is begun and one when its outcome is known, each of about a
 * kilobyte and with at most one function call. Lambda's time is assumed; Lambda reads the stream without a charge.
 */
export const orderAudit = {
  lines: 2,
  writeUnits: 2,
  calls: 2,
  billedMs: 50,
  alarms: 3,
} as const;

/**
 * A month of the mass-cancel function without requests: each minute it reads an empty partition and writes a log line
 * with two metrics. Lambda's time is assumed.
 */
export const massCancels = {
  runsPerMonth: 30 * 24 * 60,
  billedMs: 50,
  readUnits: 1,
  metrics: 2,
  alarms: 2,
  /** Bytes of that line and of Lambda's own, each with the 26 bytes that CloudWatch adds. */
  logBytes: 1000,
} as const;

/** A month of workers that find nothing to do. The settlement reads two empty indexes; its checkpoints are told apart. */
export const resting = {
  'mass-cancels': massCancels,
  'order-settlement': { ...massCancels, metrics: 5 },
  'access-token': { ...massCancels, runsPerMonth: 30 * 4, readUnits: 0, metrics: 1 },
  'trading-stop': { ...massCancels, runsPerMonth: 0, metrics: 0 },
} as const;

/**
 * A stream's function, and how often at most it reads what others refreshed. Its own refreshes serve all. Bytes and
 * records are those of fifty streams of twenty symbols each, over the simulator: uncompressed, as sent, one record for
 * each change. A test measures the bytes again.
 */
export const streams = {
  memoryMiB: 256,
  logReadsPerSecond: 10,
  readUnits: 0.5,
  seconds: 900,
  recordsPerSecond: 8.5,
  bytesPerRecord: 176,
  /** Units for counting a stream among its caller's, at its beginning and its end. */
  counted: { readUnits: 2, writeUnits: 2 },
} as const;

export type StreamFigures = typeof streams;

/** Managed instances that `live.capacity` keeps by default: from nine to a quarter past four, and at rest. */
export const managed = {
  /** Highest number that AWS's guide names for a vCPU. Lambda's interface accepts up to 1,600 for an environment. */
  streamsPerVCpu: 64,
  hoursPerDay: 7.25,
  atRest: 3,
  hoursPerMonth: 730,
  /** Symbols in a request to the upstream, whose answers pass through the NAT gateway. */
  symbolsPerRefresh: 100,
} as const;

/** Ways to hold streams; managed instances hold `streamsPerVCpu` on each vCPU. */
export const streamSituations: readonly { readonly name: string; readonly streamsPerVCpu?: number }[] = [
  { name: 'a function each' },
  { name: 'managed instances, 64 a vCPU', streamsPerVCpu: managed.streamsPerVCpu },
  { name: 'the same, 1,000 a vCPU', streamsPerVCpu: 1000 },
];

/** Numbers of clients for which a month is computed. */
export const phones = [100, 1000, 10_000] as const;

/** Reads of one account by a stream of order events. The stream reads its caller's records as a request does. */
export const orderStreams = { readsPerSecond: 2, readUnits: 0.5 } as const;

/** Write units of a lookup's item: as a claim, with the reply, and as published; a test measures them. */
export const lookupWrites = { claim: 1, reply: 3, published: 3 } as const;

/** Bytes of an answer with twenty snapshots, from the simulator; a test measures them again. */
export const answerBytes = { plain: 12_530, gzip: 2840, headers: 350 } as const;

/** Billed duration for an answer of a megabyte, assumed: from memory, and after a wait for a permit. */
export const largeAnswers = { hitMs: 50, missMs: 2500 } as const;

/** Bytes of one line of the function's and three of Lambda's own, each with the 26 bytes that CloudWatch adds. */
export const logBytesPerRequest = 550;

/** Architecture and memory of the functions, as the stack sets them; a test compares. */
export const deployed = { architecture: 'arm64', memoryMiB: 512 } as const;

/** Activity of one user, on the trading days of a month. */
export const user = { daysPerMonth: 21, everySeconds: 5 } as const;

/** Hours for which a user is active on a trading day; the second is the whole session, from 9:30 to 16:00. */
export const hoursPerDay = { usual: 1, tradingHours: 6.5 } as const;

/** Loads for which production options are priced: none, and all clients for an hour of each trading day. */
export const optionSituations = [
  { name: 'at rest', readsPerSecond: 0 },
  { name: '10,000 clients, 1 hour a day', readsPerSecond: 2000 },
] as const;

/**
 * Use of a customer-managed key. DynamoDB asks for a table's key again after `heldMinutes` for each connection, and a
 * function reads the secret as often. A market data function uses two tables; each read under way has an instance.
 */
export const ownKey = { heldMinutes: 5, tables: 2, secrets: 1, webAclRules: 3 } as const;

/** Canary, by default one request every five minutes. Its time is assumed, most of it for the connection. */
export const canary = { everyMinutes: 5, billedMs: 500 } as const;

/** Order events in a day; nothing else happens beside them. */
export const tradeEventSituations = [
  { name: 'at rest', eventsPerDay: 0 },
  { name: '10,000 events a day', eventsPerDay: 10_000 },
] as const;

/**
 * Listener of trade events, as the stack and the core configure it; a test compares what can be compared. Lambda's
 * times are assumed.
 */
export const tradeEvents = {
  daysPerMonth: 30,
  /** Minutes between two hand-overs; on average the successor waits for the last half a minute. */
  runMinutes: 14,
  waitSeconds: 30,
  /** Billed duration of a start that is not needed: it reads the secret, and the lease each second until a renewal shows. */
  startMs: 2150,
  /** Write units for looking at a held lease. A waiting successor looks each second, more often towards the end. */
  looks: { perStart: 3, perHandOver: 60 },
  /** The lease's holder renews it with one unit each time. */
  renewEverySeconds: 3,
  readSecretEverySeconds: 60,
  compareEveryMinutes: 5,
  /** Open orders and history of one account, a page each. For each page the limiter uses one read unit and two write units. */
  readsPerComparison: 2,
  /** Two items with their index entries in one transaction, which costs twice; then the event is published. */
  unitsPerEvent: { readUnits: 3, writeUnits: 10 },
  /** Number of metrics; each is charged for the hours in which it has figures. */
  metrics: 9,
  alarms: 3,
  /** Bytes of a log line with its metrics, and the 26 bytes that CloudWatch adds. */
  logBytes: { perEvent: 600, perMinute: 1100 },
} as const;

/** Hours in which the listener carries symbols that trade; at night it writes only its signs of life. */
export const marketStreamSituations = [
  { name: 'at rest', tradingHours: 0 },
  { name: '400 symbols, in market hours', tradingHours: hoursPerDay.tradingHours * user.daysPerMonth },
] as const;

/** The listener of the market stream: its lease, its starts and its reads of the secret are those of trade events. */
export const marketStream = {
  /** Units of its log a second: at rest, and while symbols trade with five processes that read (`docs/market-stream.md`). */
  atRest: { readUnits: 0, writeUnits: 3 },
  trading: { readUnits: 63, writeUnits: 57 },
  metrics: 7,
  alarms: 1,
  /** Bytes of its log line each minute, with its metrics and the 26 bytes that CloudWatch adds. */
  logBytesPerMinute: 700,
} as const;
