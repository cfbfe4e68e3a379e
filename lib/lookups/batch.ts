/**
 * One batch of messages: parse → claim → ask → reply or wait → publish. If a function dies, the queue delivers its messages
 * again, and the next function finds in the store how far each request had come. Each id of a requester has one reply,
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
import { answerTooLarge, deadlinePassed, invalidRequest } from './failure.ts';
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
  /** Key of the request in the store. */
  readonly key: string;
}

interface InvalidMessage {
  readonly message: LookupMessage;
  readonly parsed: InvalidRequest;
}

/** A reply to be published. */
interface ReadyReply {
  readonly message: LookupMessage;
  readonly key: string;
  readonly reply: StoredReply;
  /** `repeated`: not counted again, because an earlier batch counted it, or because it answers a poisoned message. */
  readonly result: 'answered' | 'failed' | 'repeated';
}

/** Time reserved for saving and publishing the replies. */
const publishingMs = 3000;
/** With less time left no request is claimed, because the gateway could not be asked in time. */
const claimingMs = publishingMs + 1000;
/** Concurrent calls of the store. */
const concurrency = 16;

export class LookupBatch {
  readonly #parts: BatchParts;
  readonly #messages: readonly LookupMessage[];
  readonly #endAt: number;
  readonly #owner = crypto.randomUUID();
  readonly #metrics: BatchMetrics;
  /** Jobs that this batch owns, and asks the gateway for. */
  readonly #acquired = new Set<Job>();
  readonly #ready: ReadyReply[] = [];
  readonly #waits: Wait[] = [];
  /** Finished messages; the queue delivers every other message again. */
  readonly #done = new Set<LookupMessage>();
  /** Copies in this batch, with the message that each duplicates. */
  readonly #duplicateOf = new Map<LookupMessage, LookupMessage>();
  #isOver = false;

  constructor(parts: BatchParts, messages: readonly LookupMessage[], endAt: number) {
    this.#parts = parts;
    this.#messages = messages;
    this.#endAt = endAt;
    this.#metrics = new BatchMetrics(parts.report);
  }

  /** Never rejects. */
  async run(): Promise<void> {
    await this.#run().catch(this.#metrics.cause);
  }

  /** Stops the batch: no new step begins. @returns the ids of messages that must be delivered again */
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
    // Claimed after the valid requests, because an invalid one may have the id of one of them.
    await mapLimited(invalids, concurrency, ({ message, parsed }) =>
      this.#guarded(() => this.#poison(message, `invalid_request: ${parsed.reason}`, parsed)),
    );
    // Sorted as in the queue, not by claims, so that the same batch makes the same calls.
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
    // Put back before publishing: replies are saved, and a slow bus must not cost the waiting requests a delivery.
    if (this.#waits.length > 0) await this.#guarded(() => this.#putAgain());
    await this.#guarded(() => this.#publish());
  }

  /** Runs a step. If a port fails, the message is not done, and is delivered again: the request is not at fault. */
  async #guarded(run: () => Promise<void>): Promise<void> {
    if (!this.#isOver) await run().catch(this.#metrics.cause);
  }

  async #parse(): Promise<{ readonly jobs: readonly Job[]; readonly invalids: readonly InvalidMessage[] }> {
    const jobs: Job[] = [];
    const invalids: InvalidMessage[] = [];
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
   * Claims a request once for all of its copies in the batch; another request with its id is poison. A copy is done when
   * the message that it duplicates is. That message may be in another batch, too, which deletes it because this copy
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
   * Moves a message to the dead letters at once, and sends a failed reply if the sender can be identified. If that reply
   * fails, the dead letter remains, and a second one must not follow.
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
      ...failedReplyTo(kind, { request_id: requestId, requester }, invalidRequest(parsed)),
      ...markOf(mayNameAccount),
    };
    if (claim.reply || (await store.saveReply(key, this.#owner, reply)) === 'saved')
      this.#ready.push({ message, key, reply, result: 'repeated' });
  }

  /** Hashes a request; with a key if it may name an account, because a plain hash would confirm a guessed account. */
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
    // If the release fails, the copy waits until the claim's lease expires.
    await store.release(key, this.#owner).catch(this.#metrics.cause);
    this.#waits.push({ message, seconds: secondsOf(settled.waitMs) });
  }

  async #save(job: Job, reply: StoredReply, result: ReadyReply['result']): Promise<void> {
    const { message, lookup, key } = job;
    const saved = await this.#parts.store.saveReply(key, this.#owner, reply);
    if (saved === 'too_large') return this.#save(job, failedReply(lookup, answerTooLarge), 'failed');
    // The lease expired and another owner acquired the request. Its reply counts, if it lives long enough to write one.
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
    const accepted = await bus.publish(entries).catch((cause: unknown) => {
      this.#metrics.cause(cause);
      return [];
    });
    const lost = new Set(entries.flatMap(({ index }, at) => (accepted[at] ? [] : [index])));
    const published = this.#ready.filter((_, index) => !lost.has(index));
    await mapLimited(published, concurrency, async ({ message, key, result }) => {
      this.#done.add(message);
      if (result !== 'repeated') this.#metrics.settled(result, clock() - message.sentAt);
      // If this fails, a copy of the message publishes the same reply again; the message itself is done.
      await store.complete(key, clock()).catch(this.#metrics.cause);
    });
  }
}

/** Groups the jobs of each request with those of its copies. */
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
