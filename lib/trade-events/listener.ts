/**
 * The listener: waits for the lease, keeps one stream, takes what it delivers into the outbox and from there to the bus,
 * and compares with the orders what a stream cannot be trusted to tell.
 *
 *     acquire     one listener                                                 listener/shift.ts, listener/lease.ts
 *     stream      sign, open, ping, silence, close                             stream.ts, messages.ts
 *     inbox       message → event → outbox, with what it says of its order     inbox.ts, order-changes.ts
 *     compare     lists and look-ups → what the stream did not tell            reconcile.ts, order-changes.ts
 *     publish     outbox → bus                                                 outbox.ts
 *     hand over   close the stream, then release the lease
 */

import { backOffMs } from '../kernel/pauses.ts';
import { listenerRuntime, settledWithin } from '../listener/runtime.ts';
import {
  type LeasedListener,
  type LeasedWork,
  runLeased,
  type Shift,
  type ShiftEnd,
  type ShiftWork,
} from '../listener/shift.ts';
import { Accounts } from './accounts.ts';
import { Comparing, lagMs } from './comparing.ts';
import { Inbox } from './inbox.ts';
import { Outbox } from './outbox.ts';
import type { Parts, ShiftParts, StreamCredential, StreamEnd, TradeEventListenerOptions } from './ports.ts';
import { type EndedStream, type Reconnect, reconnectPause, Stream } from './stream.ts';

/**
 * One listener of the events of a store's accounts. Start one every minute: those that are not needed resolve at once.
 *
 * @example
 * const listener = createTradeEventListener({ transport, orders, store, bus, names, readCredential });
 * const { result } = await listener.run({ until: Date.now() + 14 * 60_000 });
 */
export function createTradeEventListener(options: TradeEventListenerOptions): LeasedListener {
  const parts = { ...options, ...listenerRuntime(options) };
  const known = new Map<string, Accounts>();
  return {
    async run(call) {
      const work = await workOf(parts, known);
      return runLeased(parts, call, async () => work);
    },
  };
}

/** @param known the accounts of each app key, as far as this process has read them */
async function workOf(parts: Parts, known: Map<string, Accounts>): Promise<LeasedWork | undefined> {
  const credential = await readCredential(parts);
  if (!credential) return undefined;
  const accounts = known.get(credential.appKey) ?? new Accounts(parts);
  known.set(credential.appKey, accounts);
  return {
    // One for all app keys: what is known of orders is the accounts'. Without the identity key there is no stream to open.
    name: await parts.names.nameOf('event', 'listener'),
    prepare: () => accounts.prepare(),
    start: (shift) => new Listening(parts, shift, credential, accounts),
  };
}

const readCredential = ({ readCredential: read, report }: Parts): Promise<StreamCredential | undefined> =>
  read().catch((cause: unknown) => {
    report({ kind: 'failed', step: 'credential', cause });
    return undefined;
  });

/** The name that a refused secret is remembered by: it reveals nothing, and another secret has another. */
const secretName = ({ names }: Parts, { appKey, appSecret, accessToken = '' }: StreamCredential) =>
  names.nameOf('credential', appKey, appSecret, accessToken);

const readSecretEveryMs = 300_000;
/** Two that take the place from one another are both subscribed for a while: only such a stream was not refused. */
const calmMs = 600_000;
/** Without the accounts or the secret there is nothing to subscribe to. */
const preparing = { firstMs: 1_000, maxMs: 30_000 };
/** What was received is written and published before the successor begins, unless that takes longer than a moment. */
const finishMs = 250;
/** And then beside it: each write is made upon what is known then, so that two writers harm nothing. */
const drainMs = 5_000;

/** What one listener does while it has the lease. */
class Listening implements ShiftWork {
  readonly #parts: Parts;
  readonly #shift: Shift;
  readonly #outbox: Outbox;
  readonly #inbox: Inbox;
  readonly #comparing: Comparing;
  readonly #upstream: UpstreamClock;
  readonly #accounts: Accounts;
  #credential: StreamCredential;
  #stream: Stream | undefined;
  /** Resolves when the stream is closed. */
  #listening: Promise<unknown> = Promise.resolve();
  /** Resolves when all that was received is written, and published as long as the lease is held. */
  #finished: Promise<unknown> = Promise.resolve();
  #defect: { readonly cause: unknown } | undefined;

  constructor(parts: Parts, shift: Shift, credential: StreamCredential, accounts: Accounts) {
    const { lease, over } = shift;
    this.#parts = parts;
    this.#shift = shift;
    this.#credential = credential;
    this.#accounts = accounts;
    this.#upstream = new UpstreamClock(parts.clock);
    const shared: ShiftParts = {
      ...parts,
      lease,
      upstreamNow: () => this.#upstream.now(),
      onAdded: () => this.#outbox.ring(),
    };
    this.#outbox = new Outbox(shared);
    const comparing = new Comparing(shared, {
      stream: () => this.#stream,
      accounts: () => accounts.list,
    });
    this.#comparing = comparing;
    this.#inbox = new Inbox(shared, {
      onReplaced: (order) => comparing.lookUpSoon(order),
      onLost: () => comparing.compareNow(),
    });
    over.addEventListener('abort', () =>
      this.#stream?.end(lease.lost.aborted ? 'lease_lost' : 'handed_over'),
    );
  }

  begin(): readonly Promise<void>[] {
    const { over } = this.#shift;
    return [
      this.#keepStream(),
      this.#outbox.keep(over),
      this.#comparing.keep(over),
      this.#shift.each(readSecretEveryMs, () => this.#watchSecret()),
      this.#shift.watchTime(() => this.#reportState(this.#stream?.isHealthy === true)),
    ];
  }

  /** The stream is closed and the lease released all the same. */
  fail(cause: unknown): void {
    this.#defect ??= { cause };
    this.#stream?.end('broken');
    this.#shift.end();
  }

  async settle(tasks: Promise<unknown>): Promise<void> {
    const finish = async () => {
      await tasks;
      await this.#inbox.drained();
      await this.#outbox.publish();
    };
    this.#finished = finish();
    await this.#listening;
    await settledWithin(this.#parts, this.#finished, finishMs);
  }

  async close(): Promise<ShiftEnd> {
    await settledWithin(this.#parts, this.#finished, drainMs);
    if (this.#defect) throw this.#defect.cause;
    const { result } = this.#shift;
    // A lease may be lost to a store that was away for a moment: then it is free again.
    return { result, ...(result === 'lease_lost' && { again: { result } }) };
  }

  /** One stream after the other, each closed before the next is opened. */
  async #keepStream(): Promise<void> {
    const { clock, pause, random } = this.#parts;
    const signal = this.#shift.over;
    for (let failures = 0; !signal.aborted; ) {
      if (await this.#isRefused()) {
        this.#reportState(false);
        return this.#shift.end('refused');
      }
      await pause((this.#shift.lease.state.notBefore ?? 0) - clock(), signal);
      if (!(await this.#accounts.ready())) {
        await pause(backOffMs(preparing, failures++), signal);
        continue;
      }
      const ended = await this.#listen();
      if (!ended) return;
      this.#reportState(false);
      const { refusals = 0 } = this.#shift.lease.state;
      const isPauseAsked = ended.end === 'authentication_error' || ended.end === 'too_many_connections';
      const next = reconnectPause(ended.state, clock(), isPauseAsked ? refusals : failures, random());
      if (isPauseAsked) await this.#notePause(ended.end, next);
      else failures = next.failures;
      const { subscribedAt = clock() } = ended.state;
      if (!isPauseAsked && clock() - subscribedAt >= calmMs) this.#shift.lease.note({ refusals: undefined });
      // Of a refused secret the next turn decides: there may be another one.
      if (ended.end !== 'authentication_error') await pause(next.pauseMs, signal);
    }
  }

  /** Whether the upstream has refused this very secret, and not long ago. Another one is tried at once. */
  async #isRefused(): Promise<boolean> {
    const { refusedSecret, notBefore = 0 } = this.#shift.lease.state;
    if (refusedSecret === undefined) return false;
    if (refusedSecret === (await secretName(this.#parts, this.#credential))) {
      if (this.#parts.clock() >= notBefore) return false;
      // It may have been rotated since it was read, as while this listener waited for the lease.
      if (!(await this.#hasNewSecret())) return true;
    }
    this.#shift.lease.note({ refusedSecret: undefined, notBefore: undefined, refusals: undefined });
    return false;
  }

  /** For this listener and its successors: they share one pause. */
  async #notePause(end: StreamEnd, { pauseMs, failures }: Reconnect): Promise<void> {
    const isSecret = end === 'authentication_error';
    this.#shift.lease.note({
      notBefore: this.#parts.clock() + pauseMs,
      refusals: failures,
      refusedSecret: isSecret ? await secretName(this.#parts, this.#credential) : undefined,
    });
    await this.#shift.lease.renew();
  }

  /** Undefined when the shift is over: then no stream is opened any more. */
  async #listen(): Promise<EndedStream | undefined> {
    const { clock, report } = this.#parts;
    const openedAt = clock();
    if (this.#shift.over.aborted || !this.#shift.lease.isHeld()) return undefined;
    const stream = new Stream(this.#parts, {
      onMessage: (message, receivedAt) => {
        this.#upstream.note(message.timestamp, receivedAt);
        this.#inbox.push(message, receivedAt);
      },
      onSubscribed: (receivedAt) => this.#subscribed(openedAt, receivedAt),
    });
    this.#stream = stream;
    const { list } = this.#accounts;
    this.#inbox.accounts = list;
    const listening = stream.run(this.#credential, list);
    this.#listening = listening;
    const ended = await listening;
    report({ kind: 'ended', reason: ended.end, ...(ended.code !== undefined && { code: ended.code }) });
    return ended;
  }

  #subscribed(openedAt: number, receivedAt: number): void {
    const { report } = this.#parts;
    const { lastSignAt, comparedAt } = this.#shift.lease.state;
    const gapMs = lastSignAt === undefined ? undefined : Math.max(0, receivedAt - lastSignAt);
    this.#shift.lease.note({
      refusedSecret: undefined,
      notBefore: undefined,
      // Before the very first stream there is nothing that could have been missed, and no list that lags behind it.
      comparedAt: comparedAt ?? this.#upstream.now() + lagMs,
    });
    void this.#shift.lease.renew();
    this.#comparing.compareNow();
    report({ kind: 'subscribed', waitedMs: receivedAt - openedAt, ...(gapMs !== undefined && { gapMs }) });
    report({ kind: 'state', connected: true, lastSignAgeMs: 0 });
  }

  async #watchSecret(): Promise<void> {
    if (await this.#hasNewSecret()) this.#stream?.end('secret_changed');
  }

  /** Reads it again. A new secret is for a new stream, a new app key for a new lease. */
  async #hasNewSecret(): Promise<boolean> {
    const credential = await readCredential(this.#parts);
    if (!credential) return false;
    const [before, now] = await Promise.all([
      secretName(this.#parts, this.#credential),
      secretName(this.#parts, credential),
    ]);
    if (before === now) return false;
    const isOtherKey = credential.appKey !== this.#credential.appKey;
    this.#credential = credential;
    if (isOtherKey) {
      this.#stream?.end('secret_changed');
      this.#shift.end();
    }
    return true;
  }

  #reportState(connected: boolean): void {
    const { clock, report } = this.#parts;
    const { lastSignAt } = this.#shift.lease.state;
    const age = lastSignAt === undefined ? {} : { lastSignAgeMs: Math.max(0, clock() - lastSignAt) };
    report({ kind: 'state', connected, ...age });
  }
}

/** No clock of a listener that signs can be off by more: the upstream would refuse it. */
const maxOffsetMs = 600_000;

/** The upstream's time, as far as its messages tell: changes are dated by it, and a listener's own clock may be off. */
class UpstreamClock {
  readonly #clock: () => number;
  #offset: number | undefined;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock() + (this.#offset ?? 0);
  }

  /** A message is never older than it seems: the least delayed one tells the most. */
  note(timestamp: number, receivedAt: number): void {
    const offset = timestamp - receivedAt;
    if (Math.abs(offset) <= maxOffsetMs) this.#offset = Math.max(offset, this.#offset ?? offset);
  }
}
