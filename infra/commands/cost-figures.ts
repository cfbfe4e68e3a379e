/** What docs/cost.md computes with. A new measurement or another price is changed here only. */

/** Dollars, us-east-1, without free tiers and discounts. */
export const prices = {
  /** REST API, the first 333 million a month. */
  apiGatewayPerMillion: 3.5,
  lambdaPerMillion: 0.2,
  lambdaPerGbSecond: { x86_64: 0.0000166667, arm64: 0.0000133334 },
  /** On demand. */
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
  /** EC2: a m7g.large has two for $0.0816. Lambda chooses the type; those of its kind cost about as much. */
  vCpuHour: 0.0408,
  /** Lambda's part of the price of a managed instance, on top. */
  managementFee: 0.15,
  /** A NAT gateway with its public address, and what passes through it. */
  natHour: 0.045 + 0.005,
  natPerGb: 0.045,
  /** AWS WAF: the web ACL, each of its rules, and what it looks at. */
  webAclPerMonth: 5,
  webAclRulePerMonth: 1,
  webAclPerMillion: 0.6,
  /** KMS: a key of one's own, and what is asked of it. */
  keyPerMonth: 1,
  keyRequestsPer10000: 0.03,
  /** Firehose, what it takes in; where it delivers to costs apart. */
  firehosePerGb: 0.029,
} as const;

/** Reads of twenty symbols each, every five seconds. */
export interface Situation {
  readonly name: string;
  readonly clients: number;
  readonly readsPerSecond: number;
  /** Requests that the upstream gets, which are per time and not per read. */
  readonly upstreamPerSecond: number;
  /** DynamoDB's units for each read, for the snapshot cache. */
  readonly snapshots: Units;
  /** The same for each request to the upstream, for the limiter. */
  readonly limiter: Units;
  /** Lambda's time for each read. */
  readonly billedMs: number;
  /**
   * Requests that are sent again after a refusal, for each read that is answered: 0.02 is one in fifty. Those that
   * API Gateway itself throttles (429 `throttled`) do not count, because AWS does not charge for them. Default 0.
   */
  readonly repeated?: number;
}

export interface Units {
  readonly readUnits: number;
  readonly writeUnits: number;
}

/**
 * All measured by `npm run study -- snapshots plain mixed clients-100`, from a cold start, within the platform's bounds. A write
 * to the limiter is one or two units, because its item is about a kilobyte. Lambda's time is assumed: it cannot be
 * measured on one machine.
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

/** How lookups by event arrive. */
export interface LookupSituation {
  readonly name: string;
  /** Of one function call. */
  readonly lookupsPerBatch: number;
  /** Lambda's time for a batch, assumed like that of reads. */
  readonly billedMs: number;
}

export const lookupSituations: readonly LookupSituation[] = [
  { name: 'one at a time', lookupsPerBatch: 1, billedMs: 60 },
  { name: 'fifty at a time', lookupsPerBatch: 50, billedMs: 500 },
];

/** How the requests of users about their accounts meet instances, each of which knows a user for a while. */
export interface UserSituation {
  readonly name: string;
  /** Of the requests, those for which the instance reads the users' table. */
  readonly directoryReads: number;
}

/** An instance reads a user's records again after so many seconds. */
const recordSeconds = 30;

export const userSituations: readonly UserSituation[] = [
  { name: 'one instance answers', directoryReads: 5 / recordSeconds },
  { name: 'each time another', directoryReads: 1 },
];

/**
 * The records of the user, the token and the app, each a strongly consistent read of one unit. API Gateway keeps the
 * authorizer's answer. Lambda's time is assumed, as everywhere.
 */
export const users = {
  readUnits: 3,
  authorizerKeptSeconds: 60,
  authorizerMs: 10,
  authorizerMiB: 256,
} as const;

/**
 * For an order that is sent once: its item is written before and after, and in the index of what is unsettled put and
 * removed. An entry takes less than a kilobyte of which DynamoDB charges whole ones; a test measures it.
 */
export const orderWrites = { begin: 1, finish: 1, index: 2 } as const;

/**
 * The same of an order that one counter has. Entry and counter are written in one transaction when it is begun and in one
 * when it has ended, each write of which costs twice; the index of what is counted is put and removed, too.
 */
export const countedOrderWrites = { begin: 4, finish: 1, release: 4, index: 4 } as const;

/**
 * The audit of an order that is sent once: a line when it is begun and one when it is known, each of about a kilobyte, and
 * at most one call of the function for each. Lambda's time is assumed; Lambda reads the stream without a charge.
 */
export const orderAudit = {
  lines: 2,
  writeUnits: 2,
  calls: 2,
  billedMs: 50,
  memoryMiB: 256,
  alarms: 3,
} as const;

/**
 * A month of the function that cancels what is open while there is no request: it reads an empty partition each minute, and
 * says so in a line with two metrics. Lambda's time is assumed.
 */
export const massCancels = {
  runsPerMonth: 30 * 24 * 60,
  billedMs: 50,
  memoryMiB: 256,
  readUnits: 1,
  metrics: 2,
  alarms: 2,
  /** That line and those of Lambda's own, each with the 26 bytes that CloudWatch adds. */
  logBytes: 1000,
} as const;

/**
 * The function of a stream, and how often it reads at most what others refreshed. What it writes, it refreshes for all.
 * Bytes and records are those of fifty streams of twenty symbols each, over the simulator: not compressed, as they are
 * sent, with one record for each change. A test measures the bytes again.
 */
export const streams = {
  memoryMiB: 256,
  logReadsPerSecond: 10,
  readUnits: 0.5,
  seconds: 900,
  recordsPerSecond: 8.5,
  bytesPerRecord: 176,
  /** It is counted among its caller's when it begins and when it ends. */
  counted: { readUnits: 2, writeUnits: 2 },
} as const;

export type StreamFigures = typeof streams;

/** Managed instances as `live.capacity` keeps them by default: from nine to a quarter past four, and at rest. */
export const managed = {
  /** The most that AWS's guide names for a vCPU. The interface of Lambda takes up to 1,600 for an environment. */
  streamsPerVCpu: 64,
  hoursPerDay: 7.25,
  atRest: 3,
  hoursPerMonth: 730,
  /** Of requests to the upstream, whose answers pass through the NAT gateway. */
  symbolsPerRefresh: 100,
} as const;

/** How streams are held; each with the streams of a vCPU where managed instances hold them. */
export const streamSituations: readonly { readonly name: string; readonly streamsPerVCpu?: number }[] = [
  { name: 'a function each' },
  { name: 'managed instances, 64 a vCPU', streamsPerVCpu: managed.streamsPerVCpu },
  { name: 'the same, 1,000 a vCPU', streamsPerVCpu: 1000 },
];

/** Clients that a month is computed for. */
export const phones = [100, 1000, 10_000] as const;

/** A stream of order events reads one account so often, and who calls as requests do. */
export const orderStreams = { readsPerSecond: 2, readUnits: 0.5 } as const;

/** Its item is written as a claim, with the reply, and as published; a test measures it. */
export const lookupWrites = { claim: 1, reply: 3, published: 3 } as const;

/** Bytes of twenty snapshots, from the simulator; a test measures them again. */
export const answerBytes = { plain: 12_530, gzip: 2840, headers: 350 } as const;

/** Lambda's time for an answer of a megabyte, assumed: from memory, and after a wait for a permit. */
export const largeAnswers = { hitMs: 50, missMs: 2500 } as const;

/** One line of the function's and three of Lambda's own, each with the 26 bytes that CloudWatch adds. */
export const logBytesPerRequest = 550;

/** As the stack sets them; a test compares. */
export const deployed = { architecture: 'arm64', memoryMiB: 512 } as const;

/** One active user, on the trading days of a month. */
export const user = { daysPerMonth: 21, everySeconds: 5 } as const;

/** How long a user is active on each of them; the second is the exchange's whole session, from 9:30 to 16:00. */
export const hoursPerDay = { usual: 1, tradingHours: 6.5 } as const;

/** How production options are used: at rest, or by all clients for an hour of each trading day. */
export const optionSituations = [
  { name: 'at rest', readsPerSecond: 0 },
  { name: '10,000 clients, 1 hour a day', readsPerSecond: 2000 },
] as const;

/**
 * DynamoDB asks for a table's key anew after so long for each connection, and a function reads the secret as often. A market
 * data function uses two tables; an instance for each read that is under way.
 */
export const ownKey = { heldMinutes: 5, tables: 2, secrets: 1, webAclRules: 3 } as const;

/** A request of the canary, by default each five minutes; Lambda's time is assumed, and mostly a connection. */
export const canary = { everyMinutes: 5, billedMs: 500, memoryMiB: 256 } as const;

/** Events of orders a day, beside which nothing else happens. */
export const tradeEventSituations = [
  { name: 'at rest', eventsPerDay: 0 },
  { name: '10,000 events a day', eventsPerDay: 10_000 },
] as const;

/**
 * The listener of trade events, as the stack and the core set it; a test compares what can be compared. Lambda's times
 * are assumed, as everywhere.
 */
export const tradeEvents = {
  daysPerMonth: 30,
  memoryMiB: 256,
  /** Between two hand-overs; the successor waits for the last half a minute of it, on average. */
  runMinutes: 14,
  waitSeconds: 30,
  /** A start that is not needed: it reads the secret, and looks at the lease each second until it was renewed. */
  startMs: 2150,
  /** Each look that finds the lease held costs a write unit; a waiting successor looks each second, in the end more often. */
  looks: { perStart: 3, perHandOver: 60 },
  /** The owner writes the lease, one unit each time. */
  renewEverySeconds: 3,
  readSecretEverySeconds: 60,
  compareEveryMinutes: 5,
  /** Open orders and history of one account, one page each; the limiter counts each in a unit of each kind, or two. */
  readsPerComparison: 2,
  /** Two items in one transaction, which counts twice, each with its place in the index; then the event is published. */
  unitsPerEvent: { readUnits: 3, writeUnits: 10 },
  /** Nine metrics, by the hour in which there are figures. */
  metrics: 9,
  alarms: 3,
  /** One line each, with its metrics and the 26 bytes that CloudWatch adds. */
  logBytes: { perEvent: 600, perMinute: 1100 },
} as const;

/** When the listener carries symbols that trade; at night its signs of life are all that it writes. */
export const marketStreamSituations = [
  { name: 'at rest', tradingHours: 0 },
  { name: '400 symbols, in market hours', tradingHours: hoursPerDay.tradingHours * user.daysPerMonth },
] as const;

/** The listener of the market stream: its lease, its starts and its reads of the secret are those of trade events. */
export const marketStream = {
  memoryMiB: 512,
  /** Of its log in a second: at rest, and more while symbols trade, with the reads of five processes (`docs/market-stream.md`). */
  atRest: { readUnits: 0, writeUnits: 3 },
  trading: { readUnits: 63, writeUnits: 57 },
  metrics: 7,
  alarms: 1,
  /** Its line of each minute, with its metrics and the 26 bytes that CloudWatch adds. */
  logBytesPerMinute: 700,
} as const;
