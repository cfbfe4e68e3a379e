/**
 * One batch of messages: parse → claim → ask → reply or wait → publish. A request whose function dies comes back with
 * its message, and the next function finds in the store how far it had come. Each id of a requester has one reply,
 * however often its message is delivered, and the reply is saved before it is published.
 */

import type { KeyedNames } from '../access/directory.ts';
import { isAccountData } from '../catalogue/groups.ts';
import type { Operation } from '../catalogue/operation.ts';
import { requesters } from '../events/names.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { sha256Hex } from '../kernel/key-text.ts';
import { type AgeOptions, askAll, type LookupResults, mapLimited, type PendingLookup } from './ask.ts';
import { BatchMetrics } from './batch-metrics.ts';
import { answerTooLarge, deadlinePassed, invalid } from './failure.ts';
import type {
  Claim,
  LookupBus,
  LookupMessage,
  LookupQueue,
  LookupReport,
  LookupStore,
  StoredReply,
  Wait,
} from './ports.ts';
import { failedReply, failedReplyTo, markOf } from './replies.ts';
import { asksForAccount, deadlineOf, type InvalidRequest, ownedRequest, requestKey } from './request.ts';
import { settle } from './settle.ts';

export interface BatchParts {
  readonly gateway: Pick<Gateway, 'ask'>;
  readonly operations: readonly Operation[];
  readonly store: LookupStore;
  readonly queue: LookupQueue;
  readonly bus: LookupBus;
  readonly clock: () => number;
  readonly random: () => number;
  readonly rememberMs: number;
  readonly ages: AgeOptions | undefined;
  readonly names: KeyedNames | undefined;
  readonly report: (report: LookupReport) => void;
}

interface Job extends PendingLookup {
  readonly message: LookupMessage;
  /** The store's. */
  readonly key: string;
}

interface Invalid {
  readonly message: LookupMessage;
  readonly parsed: InvalidRequest;
}

/** A reply to be published. */
interface Ready {
  readonly message: LookupMessage;
  readonly key: string;
  readonly reply: StoredReply;
  /** `repeated` for a reply that an earlier batch counted, or that answers poison. */
  readonly result: 'answered' | 'failed' | 'repeated';
}

/** For saving and publishing the replies. */
const publishingMs = 3000;
/** With less time left nothing more is claimed: the gateway could not even be asked. */
const claimingMs = publishingMs + 1000;
/** Calls of the store at once. */
const concurrency = 16;

export class LookupBatch {
  readonly #parts: BatchParts;
  readonly #messages: readonly LookupMessage[];
  readonly #endAt: number;
  readonly #owner = crypto.randomUUID();
  readonly #metrics: BatchMetrics;
  /** To be asked for. */
  readonly #acquired = new Set<Job>();
  readonly #ready: Ready[] = [];
  readonly #waits: Wait[] = [];
  /** Every other message comes again, whatever its state. */
  readonly #done = new Set<LookupMessage>();
  /** The message of this batch that a copy duplicates. */
  readonly #duplicateOf = new Map<LookupMessage, LookupMessage>();
  #isOver = false;

  constructor(parts: BatchParts, messages: readonly LookupMessage[], endAt: number) {
    this.#parts = parts;
    this.#messages = messages;
    this.#endAt = endAt;
    this.#metrics = new BatchMetrics(parts.report);
  }

  /** Always resolves. */
  async run(): Promise<void> {
    await this.#run().catch(this.#metrics.cause);
  }

  /** Nothing new begins from now on. @returns the ids of messages that must come again */
  end(): readonly string[] {
    this.#isOver = true;
    const undone = this.#messages.filter(
      (message) => !this.#done.has(this.#duplicateOf.get(message) ?? message),
    );
    this.#metrics.done(undone.length);
    return [...new Set(undone.map(({ id }) => id))];
  }

  async #run(): Promise<void> {
    const { jobs, invalids } = await this.#parse();
    await mapLimited(byRequest(jobs), concurrency, (copies) => this.#claimAll(copies));
    // After the valid requests: an invalid one may have the id of one of them.
    await mapLimited(invalids, concurrency, ({ message, parsed }) =>
      this.#guarded(() => this.#poison(message, `invalid_request: ${parsed.reason}`, parsed)),
    );
    // In the order of the queue, not of the claims: the same batch makes the same calls.
    const acquired = jobs.filter((job) => this.#acquired.has(job));
    const { gateway, clock, ages } = this.#parts;
    const results = await askAll(acquired, {
      gateway,
      clock,
      deadline: this.#endAt - publishingMs,
      requestId: this.#owner,
      ages,
    });
    this.#metrics.calls(results.calls);
    await mapLimited(acquired, concurrency, (job) => this.#guarded(() => this.#settle(job, results)));
    // Before the replies, which are saved: a slow bus must not cost the waiting requests a delivery.
    if (this.#waits.length > 0) await this.#guarded(() => this.#putAgain());
    await this.#guarded(() => this.#publish());
  }

  /** A failing port is not the request's fault: its message comes again. */
  async #guarded(run: () => Promise<void>): Promise<void> {
    if (!this.#isOver) await run().catch(this.#metrics.cause);
  }

  async #parse(): Promise<{ readonly jobs: readonly Job[]; readonly invalids: readonly Invalid[] }> {
    const jobs: Job[] = [];
    const invalids: Invalid[] = [];
    for (const message of this.#messages)
      await this.#guarded(async () => {
        const { body, isDirect = false } = message;
        const origin = { otherwise: requesters.queue, isDirect };
        const parsed = ownedRequest(body, this.#parts.operations, origin);
        if (!parsed.ok) return void invalids.push({ message, parsed });
        const { lookup } = parsed;
        const key = requestKey(lookup, lookup.requestId);
        jobs.push({ message, lookup, key, deadline: deadlineOf(lookup, message.sentAt) });
      });
    return { jobs, invalids };
  }

  /**
   * Copies of a request in one batch count as one; another request with its id is poison. A copy is done when the
   * message that it duplicates is. That message may be in another batch, too, which deletes it because this copy
   * was put in its place.
   */
  async #claimAll(copies: readonly Job[]): Promise<void> {
    const seen = new Map<string, LookupMessage>();
    for (const job of copies) {
      const { message, lookup } = job;
      const original = seen.get(lookup.content);
      if (original && !lookup.isReplay) {
        this.#metrics.count('duplicates');
        this.#duplicateOf.set(message, original);
      } else await this.#guarded(() => this.#claimJob(job));
      if (!original) seen.set(lookup.content, message);
    }
  }

  async #claimJob(job: Job): Promise<void> {
    const { message, lookup, key, deadline } = job;
    const { clock } = this.#parts;
    if (clock() > this.#endAt - claimingMs) return;
    const claim = await this.#claim(key, await this.#hashOf(lookup.content, asksForAccount(lookup)));
    switch (claim.kind) {
      case 'in_progress':
        this.#metrics.count('duplicates');
        this.#waitForOwner(message, claim.until);
        return;
      case 'conflict':
        return this.#poison(message, 'id_conflict: another request had this request_id');
      case 'completed':
        this.#metrics.count('duplicates');
        if (lookup.isReplay) this.#ready.push({ message, key, reply: claim.reply, result: 'repeated' });
        else this.#done.add(message);
        return;
      case 'acquired':
        if (claim.reply) this.#ready.push({ message, key, reply: claim.reply, result: 'repeated' });
        else if (deadline <= clock()) await this.#save(job, failedReply(lookup, deadlinePassed), 'failed');
        else this.#acquired.add(job);
    }
  }

  async #claim(key: string, hash: string): Promise<Claim> {
    const { store, clock, rememberMs } = this.#parts;
    const now = clock();
    const lease = { owner: this.#owner, now, leaseUntil: this.#endAt, expiresAt: now + rememberMs };
    return store.claim({ id: key, hash, ...lease });
  }

  #waitForOwner(message: LookupMessage, until: number): void {
    this.#waits.push({ message, seconds: secondsOf(until - this.#parts.clock() + 1000) });
  }

  /**
   * To the dead letters at once, and a failed reply to the sender if it can be identified. When that reply fails,
   * the letter remains, and a second one must not follow.
   */
  async #poison(message: LookupMessage, reason: string, parsed?: InvalidRequest): Promise<void> {
    const { queue, store } = this.#parts;
    await queue.deadLetter(message, reason);
    this.#metrics.count('poisoned');
    this.#done.add(message);
    if (parsed?.requestId === undefined) return;
    const { kind, requester, requestId } = parsed;
    const key = requestKey(parsed, requestId);
    const mayNameAccount =
      kind === 'read' && this.#parts.operations.some(({ group }) => isAccountData(group));
    const claim = await this.#claim(key, await this.#hashOf(message.body, mayNameAccount));
    if (claim.kind !== 'acquired') return;
    const reply = claim.reply ?? {
      ...failedReplyTo(kind, { request_id: requestId, requester }, invalid(parsed)),
      ...markOf(mayNameAccount),
    };
    if (claim.reply || (await store.saveReply(key, this.#owner, reply)) === 'saved')
      this.#ready.push({ message, key, reply, result: 'repeated' });
  }

  /** A plain hash would confirm a guessed account. */
  #hashOf(text: string, mayNameAccount: boolean): Promise<string> {
    const { names } = this.#parts;
    return mayNameAccount && names ? names.nameOf('account', 'lookup', text) : sha256Hex(text);
  }

  async #settle(job: Job, results: LookupResults): Promise<void> {
    const { message, lookup, key, deadline } = job;
    const { clock, random, store } = this.#parts;
    const settled = settle(lookup, results, { now: clock(), deadline, waits: message.waits, random });
    if (settled.kind === 'reply')
      return this.#save(job, settled.reply, settled.failure ? 'failed' : 'answered');
    this.#metrics.count('waiting');
    // When this fails, the copy waits until the claim's lease expires.
    await store.release(key, this.#owner).catch(this.#metrics.cause);
    this.#waits.push({ message, seconds: secondsOf(settled.waitMs) });
  }

  async #save(job: Job, reply: StoredReply, result: Ready['result']): Promise<void> {
    const { message, lookup, key } = job;
    const saved = await this.#parts.store.saveReply(key, this.#owner, reply);
    if (saved === 'too_large') return this.#save(job, failedReply(lookup, answerTooLarge), 'failed');
    // The lease expired and another owner acquired the request. The new owner's reply counts, if it lives to give one.
    if (saved === 'lost') return this.#waitForOwner(message, this.#endAt);
    this.#ready.push({ message, key, reply, result });
  }

  async #putAgain(): Promise<void> {
    const failed = await this.#parts.queue.putAgain(this.#waits);
    for (const { message } of this.#waits) if (!failed.has(message)) this.#done.add(message);
  }

  async #publish(): Promise<void> {
    const { bus, store, clock } = this.#parts;
    const entries = this.#ready.flatMap(({ reply: { detailType, details } }, index) =>
      details.map((detail) => ({ index, detailType, detail })),
    );
    const taken = await bus.publish(entries).catch((cause: unknown) => {
      this.#metrics.cause(cause);
      return [];
    });
    const lost = new Set(entries.flatMap(({ index }, at) => (taken[at] ? [] : [index])));
    const published = this.#ready.filter((_, index) => !lost.has(index));
    await mapLimited(published, concurrency, async ({ message, key, result }) => {
      this.#done.add(message);
      if (result !== 'repeated') this.#metrics.settled(result, clock() - message.sentAt);
      // When this fails, a copy of the message publishes the same reply again; the message itself is done.
      await store.complete(key, clock()).catch(this.#metrics.cause);
    });
  }
}

/** Each request with its copies. */
function byRequest(jobs: readonly Job[]): readonly (readonly Job[])[] {
  const groups = new Map<string, Job[]>();
  for (const job of jobs) {
    const group = groups.get(job.key);
    if (group) group.push(job);
    else groups.set(job.key, [job]);
  }
  return [...groups.values()];
}

const secondsOf = (ms: number) => Math.min(900, Math.max(1, Math.ceil(ms / 1000)));
