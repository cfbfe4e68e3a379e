/**
 * Refreshes: the request that acquires the lease plans one call or several, sends them, and writes the outcome of each
 * into the refresh log, so that all instances have it too. One conditional write of the control item grants a lease.
 */

import { type BackOff, backOffMs } from '../../kernel/pauses.ts';
import type { Priority } from '../../limiter/index.ts';
import { StoreThrottled } from '../../limiter/store-throttled.ts';
import { fingerprintOf, forgetMs } from './entries.ts';
import { withoutMessage } from './failed-symbols.ts';
import type { AcquireResult } from './health.ts';
import { type Instance, probeBurst } from './instance.ts';
import { type PlanInput, planMisses, planProbe, planRefresh, priorityOf, type RefreshPlan } from './plan.ts';
import { minuteMs, type RefreshAnswer, upstreamTimeoutMs } from './ports.ts';
import { cutRecords, maxAnsweredRecords } from './records.ts';
import {
  type CheckpointMark,
  type NegativeItem,
  type PendingMiss,
  type RefreshControl,
  type RefreshFlight,
  type RefreshKind,
  type RefreshOutcome,
  type RefreshRecord,
  readMiss,
} from './store.ts';

/** The request on whose time a refresh is made. */
export interface RefreshRequester {
  readonly deadline: number;
  /** No client waits for it. */
  readonly isEventDriven: boolean;
}

interface PlannedCall {
  readonly plan: RefreshPlan;
  readonly priority: Priority;
}

/** A refresh needs at least this long. */
export const minRefreshMs = 500;
/** Calls that one instance sends at the same time. */
const maxConcurrentCalls = 8;
/** This many remaining symbols trigger an early call. */
const manyRemaining = 30;

const planners = { refresh: planRefresh, miss: planMisses, probe: planProbe } as const;

/**
 * Acquires a lease of this kind and refreshes, if there is anything to ask for and no other instance is faster.
 *
 * @param own misses of the requester itself
 */
export async function refresh(
  instance: Instance,
  kind: RefreshKind,
  own: readonly PendingMiss[],
  requester: RefreshRequester,
): Promise<AcquireResult> {
  const { memory, log, runtime } = instance;
  const { clock } = runtime;
  const isStarved = kind === 'refresh' && memory.upstream.areProbesStarved(clock());
  // Where nothing is missing, a refresh need not read the pending misses.
  const isCalm = kind === 'refresh' && !isStarved && !log.health.isCrowded(clock());
  const others = isCalm ? [] : await missesOfOthers(instance);
  const now = clock();
  const misses = [...others.filter((miss) => !isServed(instance, miss, now)), ...own];
  const input: PlanInput = { memory, flights: log.flights(now), misses, now };
  // A symbol that no instance has comes before one that is only older.
  const probe = isStarved ? planProbe(input) : undefined;
  const plans = probe ? [probe] : planAll(instance, kind, input);
  const calls = plans.map((plan) => ({ plan, priority: priorityOf(plan, input, requester.isEventDriven) }));
  const result = calls.length === 0 ? 'idle' : await refreshWith(instance, kind, calls, input, requester);
  instance.contention.record(result);
  return result;
}

async function refreshWith(
  instance: Instance,
  kind: RefreshKind,
  calls: readonly PlannedCall[],
  input: PlanInput,
  { deadline }: RefreshRequester,
): Promise<AcquireResult> {
  const { now } = input;
  // A probe in a refresh's place is paced like one: it takes nothing from callers with new symbols.
  const lease = await acquireLease(instance, kind, calls, input);
  if (!lease) return 'lost';
  const negative = [...negativeMisses(instance, input), ...instance.memory.flushNegativeHits(now)];
  // A page of the directory beside a refresh: of all requests, this one waits for the upstream anyway.
  const isRefresh = kind === 'refresh' && lease.first !== undefined;
  const page = isRefresh ? instance.directory?.advance(deadline) : undefined;
  const sent = calls.map((call, index) =>
    sendCall(instance, call, {
      sequence: lease.first === undefined ? 0 : lease.first + index,
      deadline,
      now,
      negative: index === 0 ? negative : [],
    }),
  );
  await Promise.all([page, ...sent]);
  if (lease.writesCheckpoint) await writeCheckpoint(instance);
  return 'acquired';
}

/** Reads the misses of other requests together with the log: both are as of now. */
async function missesOfOthers({ store, log, runtime }: Instance): Promise<readonly PendingMiss[]> {
  const { clock } = runtime;
  if (log.health.isDown(clock())) return [];
  const isJustRead = log.isJustRead(clock());
  const [keys] = await Promise.all([
    store.readMisses().catch((cause: unknown): readonly string[] => {
      log.health.failOptional(cause, clock());
      return [];
    }),
    isJustRead ? undefined : log.poll(),
  ]);
  return keys.map(readMiss);
}

/**
 * Whether a missed entry is there and is refreshed: then the instance that missed it is behind, and will read it. An
 * entry that no client requested for long is in no checkpoint and is not refreshed.
 */
function isServed({ memory, options }: Instance, { view, symbol }: PendingMiss, now: number): boolean {
  const entry = memory.entryOf(view, symbol);
  if (entry === undefined || now - entry.requestedAt > forgetMs) return false;
  return now - entry.sentAt < options.expireAfterMs;
}

/** Missed symbols that this instance knows to be unknown to the upstream. */
const negativeMisses = ({ memory }: Instance, { misses, now }: PlanInput): readonly NegativeItem[] =>
  misses.flatMap(({ view, symbol }) => {
    const entry = memory.negativeEntry(view, symbol, now);
    return entry ? [[entry.view, symbol, entry.until] as const] : [];
  });

/** Plans as many concurrent calls as are needed, each with other symbols; only misses and probes are worth more than one. */
function planAll({ log }: Instance, kind: RefreshKind, input: PlanInput): readonly RefreshPlan[] {
  const plans: RefreshPlan[] = [];
  const flights = [...input.flights];
  const { left } = log.control.probes;
  const max =
    kind === 'refresh' ? 1 : kind === 'probe' ? Math.min(maxConcurrentCalls, left) : maxConcurrentCalls;
  do {
    const plannedCallers = plans.map(({ caller }) => caller);
    const plan = planners[kind]({ ...input, flights, plannedCallers });
    // In a storm a small call would spend a permit that the next one fills better.
    const isSmall = plan && plan.symbols.length < manyRemaining / 2 && log.health.isCrowded(input.now);
    if (!plan || (plans.length > 0 && isSmall)) break;
    plans.push(plan);
    flights.push(flightOf(0, plan, input.now));
  } while (plans.length < max);
  return plans;
}

interface RefreshLease {
  /** The sequence number of its first call; undefined without a store, when this instance calls for itself alone. */
  readonly first: number | undefined;
  /** Whether its holder writes the next checkpoint. */
  readonly writesCheckpoint: boolean;
}

/** Acquires the leases of these calls; undefined when another instance has them. */
async function acquireLease(
  instance: Instance,
  kind: RefreshKind,
  calls: readonly PlannedCall[],
  { flights, now }: PlanInput,
): Promise<RefreshLease | undefined> {
  const { log, store, runtime } = instance;
  const alone = { first: undefined, writesCheckpoint: false };
  if (log.health.isDown(now)) return alone;
  const { sequence: after, checkpoint } = log.control;
  const sequence = after + calls.length;
  const writesCheckpoint = log.isComplete && isCheckpointDue(instance, sequence, now);
  const next: RefreshControl = {
    sequence,
    ...pacingAfter(instance, kind, calls, now),
    flights: [...flights, ...calls.map(({ plan }, index) => flightOf(after + 1 + index, plan, now))],
    checkpoint: writesCheckpoint ? checkpointAfter(instance, sequence, now) : checkpoint,
  };
  try {
    const answer = await store.acquire(next, after);
    if (!answer.acquired) {
      log.replaceControl(answer.control);
      return undefined;
    }
    log.updateControl(next);
    return { first: after + 1, writesCheckpoint };
  } catch (cause) {
    log.health.fail(cause, runtime.clock());
    // A store that throttles is there: another instance may have the lease, and this one must not act alone.
    return cause instanceof StoreThrottled ? undefined : alone;
  }
}

const flightOf = (
  sequence: number,
  { kind, view, symbols, caller, isUnlistedProbe }: RefreshPlan,
  now: number,
): RefreshFlight => ({
  sequence,
  at: now,
  view,
  fingerprints: symbols.map(fingerprintOf),
  ...(kind === 'probe' && caller !== undefined && { caller }),
  isUnlistedProbe,
});

/** Calls for misses that may follow each other within a minute without the pace of refreshes. */
const missBurst = 250;
/**
 * Between two refreshes that requests wait for: symbols that are missed meanwhile go along with the second. Short while
 * enough misses are left for a full call, longer for single symbols: after a cold start every call counts.
 */
const coalesceMs = { many: 20, few: 150 } as const;

/** When the next calls are due, after these of one kind. */
function pacingAfter(
  instance: Instance,
  kind: RefreshKind,
  calls: readonly PlannedCall[],
  now: number,
): Pick<RefreshControl, 'due' | 'probes'> {
  const { memory, log, options } = instance;
  const { paceMs } = options;
  const last = calls.at(-1)!;
  const isInteractive = last.priority === 'interactive';
  const due = { ...log.control.due };
  let { probes } = log.control;
  // The schedule spaces refreshes evenly. Pauses and other calls do not shift it, because the limiter accounts for them.
  if (kind === 'refresh' || (kind === 'miss' && isInteractive)) {
    const next = Math.max(log.due('refresh', now) + paceMs, now + paceMs / 2);
    due.refresh = Math.min(next, now + paceMs);
  }
  // A refresh comes half a step after a probe, or one waits for the other's permit; and not ever later, with probe after
  // probe. Calls for events delay nothing.
  if (kind === 'probe' && isInteractive)
    due.refresh = Math.min(Math.max(due.refresh, now) + paceMs / 2, now + paceMs);
  const soonMs = (last.plan.remaining ?? 0) >= manyRemaining ? coalesceMs.many : coalesceMs.few;
  const isInBurst = memory.upstream.recentCount('miss', now) < missBurst;
  if (kind === 'miss') due.miss = now + (isInBurst ? soonMs : paceMs);
  if (kind === 'probe') {
    const msPerProbe = minuteMs / options.probesPerMinute;
    const refilled = Math.max(0, now - probes.at) / msPerProbe;
    probes = { left: Math.min(probeBurst, probes.left + refilled) - calls.length, at: now };
    due.probe = now + Math.max(soonMs, (1 - probes.left) * msPerProbe);
  }
  return { due, probes };
}

/** A checkpoint at least this often while leases are acquired; in a storm, where many read nothing else, more often. */
const checkpointMs = { calm: 10_000, storm: 1500 } as const;
/** A checkpoint is written after this many refreshes at most. */
const refreshesPerCheckpoint = 40;

function isCheckpointDue({ log }: Instance, sequence: number, now: number): boolean {
  const { checkpoint } = log.control;
  const everyMs = log.health.isCrowded(now) ? checkpointMs.storm : checkpointMs.calm;
  return sequence >= checkpoint.sequence + checkpoint.gap || now - checkpoint.at >= everyMs;
}

/** After a pause there is little to write, and many may begin: at first each lease writes one, then ever fewer do. */
function checkpointAfter({ memory, log }: Instance, sequence: number, now: number): CheckpointMark {
  const { at, gap } = log.control.checkpoint;
  const next = now - at > 2 * checkpointMs.calm ? 1 : Math.min(refreshesPerCheckpoint, 2 * gap);
  return { sequence, at: now, records: memory.recordsInUse(now), gap: next };
}

async function writeCheckpoint({ store, memory, log, runtime }: Instance): Promise<void> {
  const now = runtime.clock();
  const checkpoint = memory.createCheckpoint(log.readUpTo(now), now);
  await store.writeCheckpoint(0, checkpoint).catch((cause) => log.health.failOptional(cause, now));
}

interface LeasedCall {
  /** 0 when the instance calls for itself alone, without the store: then it does not wait for a permit. */
  readonly sequence: number;
  readonly deadline: number;
  /** When the lease was acquired. */
  readonly now: number;
  readonly negative: readonly NegativeItem[];
}

/** How many symbols of each view have their demand in one record. */
const maxDemand = 100;

async function sendCall(
  instance: Instance,
  call: PlannedCall,
  { sequence, deadline, now, negative }: LeasedCall,
): Promise<void> {
  const { memory, log, writer, runtime } = instance;
  const { plan, priority } = call;
  const { sentAt, outcome } = await callUpstream(instance, call, { sequence, deadline });
  const record: RefreshRecord = {
    sequence,
    writer,
    kind: plan.kind,
    view: plan.view,
    sentAt,
    symbols: plan.symbols,
    outcome,
    ...(plan.sibling && plan.sibling.length > 0 && { sibling: plan.sibling }),
    caller: plan.caller,
    ...(priority !== 'interactive' && { priority }),
    ...(plan.isUnlistedProbe && { isUnlistedProbe: true }),
    ...(memory.statusOf(plan.view).namesUnknown && { namesUnknown: true }),
    failedProbes: memory.quota.levels(now),
    negative,
    demand: [...memory.views].flatMap(([view, entries]) =>
      entries.flushDemand(maxDemand).map(([symbol, times]) => [view, symbol, times] as const),
    ),
  };
  log.applyOwn(record);
  if (sequence === 0) return;
  await writeRecord(instance, record).catch((cause) => log.health.fail(cause, runtime.clock()));
}

/** An outcome that the store throttles is written again, after these pauses: other instances wait for it. */
const writePausesMs = [20, 60, 180] as const;

async function writeRecord({ store, runtime }: Instance, record: RefreshRecord): Promise<void> {
  for (const pauseMs of writePausesMs)
    try {
      return await store.write(record);
    } catch (cause) {
      if (!(cause instanceof StoreThrottled)) throw cause;
      await runtime.sleep(pauseMs * (0.5 + runtime.random()));
    }
  return store.write(record);
}

/** How long a miss waits for a permit; not so long that no request counts on the call any more. */
const missPermitMs = 800;
/** Wait after a limiter that failed, against its contract. */
const brokenLimiterMs = 1000;

/**
 * Waits for a permit, sends one request and reads the answer as an outcome. Always resolves: a port that breaks its
 * contract costs the call, and requests are served what is cached.
 */
async function callUpstream(
  instance: Instance,
  { plan, priority }: PlannedCall,
  { sequence, deadline }: Pick<LeasedCall, 'sequence' | 'deadline'>,
): Promise<{ sentAt: number; outcome: RefreshOutcome }> {
  const { permits, upstream, memory, options, runtime } = instance;
  const { clock } = runtime;
  // The next refresh is as good as one that is late; a miss that a client waits for is worth more patience. A less
  // urgent call delays no requester that needs the same symbols more urgently.
  const isPatient = plan.kind !== 'refresh' && priority === 'interactive';
  const maxWaitMs = sequence === 0 ? 0 : isPatient ? missPermitMs : options.paceMs;
  const waitMs = Math.max(0, Math.min(maxWaitMs, deadline - clock()));
  const answer = await permits
    .acquire({ priority, waitMs })
    .catch(() => ({ ok: false, retryAfterMs: brokenLimiterMs, isLocal: true }) as const);
  const sentAt = clock();
  if (!answer.ok) {
    const notBefore = sentAt + Math.min(minuteMs, answer.retryAfterMs);
    const shared = { kind: 'failed', notBefore, upstream: false } as const;
    return { sentAt, outcome: answer.isLocal ? failedHere(instance, notBefore) : shared };
  }
  const timeoutMs = Math.max(1, Math.min(upstreamTimeoutMs, deadline - sentAt));
  const { view } = memory.entriesOf(plan.view);
  const answered = await upstream(view, plan.symbols, answer.permit, timeoutMs, plan.caller).catch(
    (): RefreshAnswer => ({ kind: 'failed' }),
  );
  return { sentAt, outcome: outcomeOf(instance, answered, plan) };
}

const forbiddenMs = 30_000;

function outcomeOf(instance: Instance, answer: RefreshAnswer, plan: RefreshPlan): RefreshOutcome {
  const { symbols } = plan;
  switch (answer.kind) {
    case 'answer': {
      const records = cutRecords(answer.body, maxAnsweredRecords);
      if (!records) return failed(instance, {});
      const asked = new Set(symbols);
      return {
        kind: 'answer',
        records: new Map([...records].filter(([symbol]) => asked.has(symbol))),
        unknown: symbols.filter((symbol) => !records.has(symbol)),
      };
    }
    case 'rejected':
      return answer;
    case 'forbidden': {
      const { error, forMs = forbiddenMs } = answer;
      if (answer.mayBeOfSymbols && mayBeOfSymbols(instance, plan))
        return {
          kind: 'rejected',
          error: { ...(symbols.length > 1 ? withoutMessage(error) : error), forMs },
        };
      return { kind: 'forbidden', error, until: instance.runtime.clock() + forMs };
    }
    case 'failed':
      return failed(instance, answer);
  }
}

/**
 * Whether the upstream may have refused for the sake of one of the symbols: not where it has answered for all of them,
 * and not where it answers for none, or each would be asked for alone.
 */
function mayBeOfSymbols(
  { memory, runtime }: Instance,
  { view, symbols, isUnlistedProbe }: RefreshPlan,
): boolean {
  const { entries } = memory.entriesOf(view);
  if (symbols.every((symbol) => entries.has(symbol))) return false;
  const since = runtime.clock() - minuteMs;
  return isUnlistedProbe === true || [...entries.values()].some(({ fetchedAt }) => fetchedAt > since);
}

/** Wait after failures of the upstream in a row. */
const upstreamBackOff: BackOff = { firstMs: 125, maxMs: 1000 };

function failed(
  instance: Instance,
  { retryAfterMs, isLocal }: Omit<Extract<RefreshAnswer, { kind: 'failed' }>, 'kind'>,
): RefreshOutcome {
  const pauseMs = retryAfterMs ?? backOffMs(upstreamBackOff, instance.memory.upstream.failures);
  const notBefore = instance.runtime.clock() + Math.min(minuteMs, pauseMs);
  return isLocal ? failedHere(instance, notBefore) : { kind: 'failed', notBefore, upstream: true };
}

/** A reason that keeps this instance from asking keeps no other from it. */
function failedHere({ memory, runtime }: Instance, notBefore: number): RefreshOutcome {
  memory.upstream.pauseHere(notBefore);
  return { kind: 'failed', notBefore: runtime.clock(), upstream: false };
}
