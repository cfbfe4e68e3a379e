/**
 * The listener: waits for the lease, keeps one stream, takes what it delivers into the outbox and from there to the bus,
 * and compares with the orders what a stream cannot be trusted to tell.
 *
 *     acquire     one listener                                                 listener/shift.ts, listener/lease.ts
 *     listening   what a listener knows while it has the lease                 listening.ts
 *     stream      sign, open, ping, silence, close                             stream.ts, messages.ts
 *     inbox       message → event → outbox, with what it says of its order     inbox.ts, order-changes.ts
 *     compare     lists and look-ups → what the stream did not tell            comparing.ts, reconcile.ts
 *     publish     outbox → bus                                                 outbox.ts
 *     hand over   close the stream, then release the lease
 */

import { backOffMs } from '../kernel/pauses.ts';
import { Bell, listenerRuntime, settledWithin } from '../listener/runtime.ts';
import { type LeasedListener, type LeasedWork, runLeased, type ShiftWork } from '../listener/shift.ts';
import { keepComparing, lagMs } from './comparing.ts';
import { receive } from './inbox.ts';
import { AccountList, ComparisonAgenda, type EventListening, UpstreamClock } from './listening.ts';
import { keepPublishing, publish } from './outbox.ts';
import type { StreamCredential, TradeEventListenerOptions, TradeEventParts } from './ports.ts';
import { EventStream, reconnectPause, type StreamState } from './stream.ts';

/**
 * One listener of the events of a store's accounts. Start one every minute: those that are not needed resolve at once.
 *
 * @example
 * const listener = createTradeEventListener({ transport, orders, store, bus, names, readCredential });
 * const { result } = await listener.run({ until: Date.now() + 14 * 60_000 });
 */
export function createTradeEventListener(options: TradeEventListenerOptions): LeasedListener {
  const parts = { ...options, ...listenerRuntime(options) };
  const accountLists = new Map<string, AccountList>();
  return {
    async run(call) {
      const work = await workOf(parts, accountLists);
      return runLeased(parts, call, async () => work);
    },
  };
}

/** @param accountLists by app key, as far as this process has read them */
async function workOf(
  parts: TradeEventParts,
  accountLists: Map<string, AccountList>,
): Promise<LeasedWork | undefined> {
  const credential = await readCredential(parts);
  if (!credential) return undefined;
  const { appKey } = credential;
  const accountList = accountLists.get(appKey) ?? new AccountList(parts);
  accountLists.set(appKey, accountList);
  return {
    // One lease for all app keys: what is known of orders is the accounts'. Without the identity key no stream can be opened.
    name: await parts.names.nameOf('event', 'listener'),
    prepare: () => accountList.prepare(),
    start: (shift) =>
      work({
        ...parts,
        shift,
        lease: shift.lease,
        accountList,
        upstreamClock: new UpstreamClock(parts.clock),
        agenda: new ComparisonAgenda(parts.clock),
        outboxBell: new Bell(),
        credential,
        stream: undefined,
        streaming: Promise.resolve(),
        writing: Promise.resolve(),
      }),
  };
}

const readSecretEveryMs = 300_000;
/** Received messages are written and published before the successor begins, unless that takes longer than a moment. */
const finishMs = 250;
/** And then beside it: each write is made upon what is known then, so that two writers harm nothing. */
const drainMs = 5_000;

/** Work of one listener while it has the lease. */
function work(listening: EventListening): ShiftWork {
  const { shift, lease } = listening;
  /** Resolves when all that was received is written, and published as long as the lease is held. */
  let finished: Promise<unknown> = Promise.resolve();
  let defect: { readonly cause: unknown } | undefined;
  shift.over.addEventListener('abort', () =>
    listening.stream?.end(lease.lost.aborted ? 'lease_lost' : 'handed_over'),
  );
  return {
    begin: () => [
      keepStream(listening),
      keepPublishing(listening),
      keepComparing(listening),
      shift.each(readSecretEveryMs, async () => {
        if (await hasNewSecret(listening)) listening.stream?.end('secret_changed');
      }),
      shift.watchTime(() => reportState(listening, listening.stream?.isHealthy === true)),
    ],
    // The stream is closed and the lease released all the same.
    fail(cause) {
      defect ??= { cause };
      listening.stream?.end('broken');
      shift.end();
    },
    async settle(tasks) {
      const finish = async () => {
        await tasks;
        await listening.writing;
        await publish(listening);
      };
      finished = finish();
      await listening.streaming;
      await settledWithin(listening, finished, finishMs);
    },
    async close() {
      await settledWithin(listening, finished, drainMs);
      if (defect) throw defect.cause;
      const { result } = shift;
      // A lease may be lost to a store that was away for a moment: then it is free again.
      return { result, ...(result === 'lease_lost' && { again: { result } }) };
    },
  };
}

/** Two streams that replace one another are both subscribed for a while: only one that lasts so long was not refused. */
const calmMs = 600_000;
/** Without the accounts or the secret there is nothing to subscribe to. */
const preparing = { firstMs: 1_000, maxMs: 30_000 };

/** Opens one stream after the other, each when the one before is closed. */
async function keepStream(listening: EventListening): Promise<void> {
  const { clock, pause, random, shift, lease, accountList } = listening;
  for (let failures = 0; !shift.over.aborted; ) {
    if (await isRefused(listening)) {
      reportState(listening, false);
      return shift.end('refused');
    }
    await pause((lease.state.notBefore ?? 0) - clock(), shift.over);
    if (!(await accountList.ready())) {
      await pause(backOffMs(preparing, failures++), shift.over);
      continue;
    }
    const state = await listen(listening);
    if (!state) return;
    reportState(listening, false);
    const { refusals = 0 } = lease.state;
    const isSecret = state.end === 'authentication_error';
    const isPauseAsked = isSecret || state.end === 'too_many_connections';
    const next = reconnectPause(state, clock(), isPauseAsked ? refusals : failures, random());
    if (isPauseAsked) {
      // For this listener and its successors: they share one pause.
      lease.note({
        notBefore: clock() + next.pauseMs,
        refusals: next.failures,
        refusedSecret: isSecret ? await secretName(listening, listening.credential) : undefined,
      });
      await lease.renew();
    } else failures = next.failures;
    const { subscribedAt = clock() } = state;
    if (!isPauseAsked && clock() - subscribedAt >= calmMs) lease.note({ refusals: undefined });
    // After a refused secret the next turn decides: there may be another one.
    if (!isSecret) await pause(next.pauseMs, shift.over);
  }
}

/** Whether the upstream has refused this very secret, and not long ago. Another one is tried at once. */
async function isRefused(listening: EventListening): Promise<boolean> {
  const { clock, lease, credential } = listening;
  const { refusedSecret, notBefore = 0 } = lease.state;
  if (refusedSecret === undefined) return false;
  if (refusedSecret === (await secretName(listening, credential))) {
    if (clock() >= notBefore) return false;
    // It may have been rotated since it was read, as while this listener waited for the lease.
    if (!(await hasNewSecret(listening))) return true;
  }
  lease.note({ refusedSecret: undefined, notBefore: undefined, refusals: undefined });
  return false;
}

/** Resolves to the state in which the stream ended; undefined when the shift is over: then no stream is opened any more. */
async function listen(listening: EventListening): Promise<StreamState | undefined> {
  const { clock, report, shift, lease, upstreamClock, accountList, credential } = listening;
  const openedAt = clock();
  if (shift.over.aborted || !lease.isHeld()) return undefined;
  const accounts = accountList.known;
  const onlyAccount = accounts.length === 1 ? accounts[0] : undefined;
  const stream = new EventStream(listening, (message, receivedAt, hasSubscribed) => {
    upstreamClock.note(message.timestamp, receivedAt);
    receive(listening, { message, receivedAt, onlyAccount });
    if (hasSubscribed) subscribed(listening, openedAt, receivedAt);
  });
  listening.stream = stream;
  listening.streaming = stream.run(credential, accounts);
  await listening.streaming;
  const { state, code } = stream;
  report({ kind: 'ended', reason: state.end ?? 'broken', ...(code !== undefined && { code }) });
  return state;
}

function subscribed(listening: EventListening, openedAt: number, receivedAt: number): void {
  const { report, lease, upstreamClock, agenda } = listening;
  const { lastSignAt, comparedAt } = lease.state;
  const gapMs = lastSignAt === undefined ? undefined : Math.max(0, receivedAt - lastSignAt);
  lease.note({
    refusedSecret: undefined,
    notBefore: undefined,
    // Before the very first stream there is nothing that could have been missed, and no list that lags behind it.
    comparedAt: comparedAt ?? upstreamClock.now() + lagMs,
  });
  void lease.renew();
  agenda.compareNow();
  report({ kind: 'subscribed', waitedMs: receivedAt - openedAt, ...(gapMs !== undefined && { gapMs }) });
  report({ kind: 'state', connected: true, lastSignAgeMs: 0 });
}

function reportState({ clock, report, lease }: EventListening, connected: boolean): void {
  const { lastSignAt } = lease.state;
  const age = lastSignAt === undefined ? {} : { lastSignAgeMs: Math.max(0, clock() - lastSignAt) };
  report({ kind: 'state', connected, ...age });
}

/** Reads it again. A new secret is for a new stream, a new app key for a new lease. */
async function hasNewSecret(listening: EventListening): Promise<boolean> {
  const credential = await readCredential(listening);
  if (!credential) return false;
  const [before, now] = await Promise.all(
    [listening.credential, credential].map((one) => secretName(listening, one)),
  );
  if (before === now) return false;
  const isOtherKey = credential.appKey !== listening.credential.appKey;
  listening.credential = credential;
  if (isOtherKey) {
    listening.stream?.end('secret_changed');
    listening.shift.end();
  }
  return true;
}

const readCredential = ({
  readCredential: read,
  report,
}: TradeEventParts): Promise<StreamCredential | undefined> =>
  read().catch((cause: unknown) => {
    report({ kind: 'failed', step: 'credential', cause });
    return undefined;
  });

/** The name that a refused secret is remembered by: it reveals nothing, and another secret has another. */
const secretName = (
  { names }: TradeEventParts,
  { appKey, appSecret, accessToken = '' }: StreamCredential,
): Promise<string> => names.nameOf('credential', appKey, appSecret, accessToken);
