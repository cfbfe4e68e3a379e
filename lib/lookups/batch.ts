/**
 * One batch of messages: parse → claim → ask → reply or wait → publish. If a function dies, the queue delivers its messages
 * again, and the next function finds in the store how far each request had come. Each id of a requester has one reply,
 * however often its message is delivered, and the reply is saved before it is published. The platform's time limit ends
 * every batch: messages that are unfinished by then are delivered again.
 */

import type { KeyedNames } from '../access/directory.ts';
import { isAccountData } from '../catalogue/groups.ts';
import { requesters } from '../events/names.ts';
import { sha256Hex } from '../kernel/key-text.ts';
import { type After, afterTimeout } from '../kernel/pauses.ts';
import { askAll, type LookupResults, mapLimited, type PendingLookup } from './ask.ts';
import { deadlinePassed, invalidRequest, type LookupFailure } from './failure.ts';
import {
  type Claim,
  emptyReport,
  type LookupBus,
  type LookupMessage,
  type LookupParts,
  type LookupQueue,
  type LookupStore,
  type StoredReply,
  sendReport,
  type Wait,
} from './ports.ts';
import { failedReply, failedReplyTo, settle } from './replies.ts';
import { asksForAccount, deadlineOf, type InvalidRequest, ownedRequest, requestKey } from './request.ts';

export interface LookupsOptions extends LookupParts {
  readonly store: LookupStore;
  readonly queue: LookupQueue;
  readonly bus: LookupBus;
  /** Keyed names by which the store compares requests for account data. Default: plain hashes of their content. */
  readonly names: KeyedNames | undefined;
  /** Timer of a batch's end. Default the platform's; tests replace it. */
  readonly after?: After;
}

export interface Lookups {
  /**
   * Answers a batch of messages. Never rejects.
   *
   * @param endAt when the platform stops waiting, in milliseconds since the epoch; the batch returns a second before that
   * @returns the ids of unfinished messages, which must be delivered again; all others are done
   */
  batch(messages: readonly LookupMessage[], endAt: number): Promise<readonly string[]>;
}

/** Time before the function's end at which it reports unfinished messages to the platform. */
const handingBackMs = 1000;
/** Time reserved for saving and publishing the replies. */
const publishingMs = 3000;
/** With less time left no request is claimed, because the gateway could not be asked in time. */
const claimingMs = publishingMs + 1000;
/** Time for which the store remembers a request: longer than its message can stay in a queue. */
const rememberMs = 15 * 86_400_000;
/** Concurrent calls of the store. */
const concurrency = 16;

/**
 * @example
 * const lookups = createLookups({ gateway, operations, store, queue, bus });
 * const comeAgain = await lookups.batch(messages, Date.now() + 25_000);
 */
export function createLookups(parts: LookupsOptions): Lookups {
  const { clock, after = afterTimeout } = parts;
  return {
    async batch(messages, endAt) {
      const batch: Batch = {
        parts,
        messages,
        endAt,
        owner: crypto.randomUUID(),
        counts: emptyReport(),
        acquired: new Set(),
        ready: [],
        waits: [],
        done: new Set(),
        duplicateOf: new Map(),
        isOver: false,
      };
      await new Promise<void>((resolve) => {
        const cancel = after(endAt - handingBackMs - clock(), resolve);
        runBatch(batch)
          .catch(noteCause(batch))
          .finally(() => {
            cancel();
            resolve();
          });
      });
      return endBatch(batch);
    },
  };
}

/** A batch, as far as it has come. */
interface Batch {
  readonly parts: LookupsOptions;
  readonly messages: readonly LookupMessage[];
  readonly endAt: number;
  readonly owner: string;
  readonly counts: ReturnType<typeof emptyReport>;
  /** Jobs that this batch owns, and asks the gateway for. */
  readonly acquired: Set<Job>;
  readonly ready: ReadyReply[];
  readonly waits: Wait[];
  /** Finished messages; the queue delivers every other message again. */
  readonly done: Set<LookupMessage>;
  /** Copies in this batch, with the message that each duplicates. */
  readonly duplicateOf: Map<LookupMessage, LookupMessage>;
  isOver: boolean;
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

async function runBatch(batch: Batch): Promise<void> {
  const { parts, endAt, owner, acquired, waits } = batch;
  const { jobs, invalids } = await parse(batch);
  await mapLimited(byRequest(jobs), concurrency, (copies) => claimAll(batch, copies));
  // Claimed after the valid requests, because an invalid one may have the id of one of them.
  await mapLimited(invalids, concurrency, ({ message, parsed }) =>
    guarded(batch, () => poison(batch, message, `invalid_request: ${parsed.reason}`, parsed)),
  );
  // Sorted as in the queue, not by claims, so that the same batch makes the same calls.
  const asked = jobs.filter((job) => acquired.has(job));
  const results = await askAll(asked, parts, { deadline: endAt - publishingMs, requestId: owner });
  batch.counts.calls += results.calls;
  await mapLimited(asked, concurrency, (job) => guarded(batch, () => settleJob(batch, job, results)));
  // Put back before publishing: replies are saved, and a slow bus must not cost the waiting requests a delivery.
  if (waits.length > 0) await guarded(batch, () => putAgain(batch));
  await guarded(batch, () => publish(batch));
}

/** Stops a batch: no new step begins. @returns the ids of messages that must be delivered again */
function endBatch(batch: Batch): readonly string[] {
  const { messages, done, duplicateOf, counts, parts } = batch;
  batch.isOver = true;
  const undone = messages.filter((message) => !done.has(duplicateOf.get(message) ?? message));
  sendReport(parts, { ...counts, undone: undone.length });
  return [...new Set(undone.map(({ id }) => id))];
}

/** Runs a step. If a port fails, the message is not done, and is delivered again: the request is not at fault. */
async function guarded(batch: Batch, step: () => Promise<void>): Promise<void> {
  if (!batch.isOver) await step().catch(noteCause(batch));
}

const noteCause =
  ({ counts }: Batch) =>
  (cause: unknown): void =>
    void counts.causes.push(cause);

async function parse(
  batch: Batch,
): Promise<{ readonly jobs: readonly Job[]; readonly invalids: readonly InvalidMessage[] }> {
  const jobs: Job[] = [];
  const invalids: InvalidMessage[] = [];
  for (const message of batch.messages)
    await guarded(batch, async () => {
      const { body, sentAt, isDirect = false } = message;
      const parsed = ownedRequest(body, batch.parts.operations, requesters.queue, isDirect);
      if (!parsed.ok) return void invalids.push({ message, parsed });
      const { lookup } = parsed;
      const key = requestKey(lookup, lookup.requestId);
      jobs.push({ message, lookup, key, deadline: deadlineOf(lookup, sentAt) });
    });
  return { jobs, invalids };
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

/**
 * Claims a request once for all of its copies in the batch; another request with its id is poison. A copy is done when
 * the message that it duplicates is. That message may be in another batch, too, which deletes it because this copy
 * was put in its place.
 */
async function claimAll(batch: Batch, copies: readonly Job[]): Promise<void> {
  const seen = new Map<string, LookupMessage>();
  for (const job of copies) {
    const { message, lookup } = job;
    const original = seen.get(lookup.content);
    if (original && !lookup.isReplay) {
      batch.counts.duplicates++;
      batch.duplicateOf.set(message, original);
    } else await guarded(batch, () => claimJob(batch, job));
    if (!original) seen.set(lookup.content, message);
  }
}

async function claimJob(batch: Batch, job: Job): Promise<void> {
  const { message, lookup, key, deadline } = job;
  const { parts, endAt, counts, ready, done } = batch;
  if (parts.clock() > endAt - claimingMs) return;
  const claimed = await claim(batch, key, await hashOf(batch, lookup.content, asksForAccount(lookup)));
  switch (claimed.kind) {
    case 'in_progress':
      counts.duplicates++;
      return waitForOwner(batch, message, claimed.until);
    case 'conflict':
      return poison(batch, message, 'id_conflict: another request had this request_id');
    case 'completed':
      counts.duplicates++;
      if (lookup.isReplay) ready.push({ message, key, reply: claimed.reply, result: 'repeated' });
      else done.add(message);
      return;
    case 'acquired':
      if (claimed.reply) ready.push({ message, key, reply: claimed.reply, result: 'repeated' });
      else if (deadline <= parts.clock())
        await save(batch, job, failedReply(lookup, deadlinePassed), 'failed');
      else batch.acquired.add(job);
  }
}

async function claim({ parts, owner, endAt }: Batch, key: string, hash: string): Promise<Claim> {
  const now = parts.clock();
  return parts.store.claim({ id: key, hash, owner, now, leaseUntil: endAt, expiresAt: now + rememberMs });
}

/** Hashes a request; with a key if it may name an account, because a plain hash would confirm a guessed account. */
function hashOf({ parts: { names } }: Batch, text: string, mayNameAccount: boolean): Promise<string> {
  return mayNameAccount && names ? names.nameOf('account', 'lookup', text) : sha256Hex(text);
}

function waitForOwner({ parts, waits }: Batch, message: LookupMessage, until: number): void {
  waits.push({ message, seconds: secondsOf(until - parts.clock() + 1000) });
}

/**
 * Moves a message to the dead letters at once, and sends a failed reply if the sender can be identified. If that reply
 * fails, the dead letter remains, and a second one must not follow.
 */
async function poison(
  batch: Batch,
  message: LookupMessage,
  reason: string,
  parsed?: InvalidRequest,
): Promise<void> {
  const { queue, store, operations } = batch.parts;
  await queue.deadLetter(message, reason);
  batch.counts.poisoned++;
  batch.done.add(message);
  if (parsed?.requestId === undefined) return;
  const { kind, requester, requestId } = parsed;
  const key = requestKey(parsed, requestId);
  const mayNameAccount = kind === 'read' && operations.some(({ group }) => isAccountData(group));
  const claimed = await claim(batch, key, await hashOf(batch, message.body, mayNameAccount));
  if (claimed.kind !== 'acquired') return;
  const head = { request_id: requestId, requester };
  const reply = claimed.reply ?? failedReplyTo(kind, head, invalidRequest(parsed), mayNameAccount);
  if (claimed.reply || (await store.saveReply(key, batch.owner, reply)) === 'saved')
    batch.ready.push({ message, key, reply, result: 'repeated' });
}

/** Saves the reply to a lookup, or lets the lookup wait for another try. */
async function settleJob(batch: Batch, job: Job, results: LookupResults): Promise<void> {
  const { message, lookup, key, deadline } = job;
  const { clock, random, store } = batch.parts;
  const settled = settle(lookup, results, { now: clock(), deadline, waits: message.waits, random });
  if (settled.kind === 'reply')
    return save(batch, job, settled.reply, settled.failure ? 'failed' : 'answered');
  batch.counts.waiting++;
  // If the release fails, the copy waits until the claim's lease expires.
  await store.release(key, batch.owner).catch(noteCause(batch));
  batch.waits.push({ message, seconds: secondsOf(settled.waitMs) });
}

const answerTooLarge: LookupFailure = {
  code: 'answer_too_large',
  retryable: false,
  detail: 'The answer is larger than can be kept for a reply; ask for less.',
};

async function save(batch: Batch, job: Job, reply: StoredReply, result: ReadyReply['result']): Promise<void> {
  const { message, lookup, key } = job;
  const saved = await batch.parts.store.saveReply(key, batch.owner, reply);
  if (saved === 'too_large') return save(batch, job, failedReply(lookup, answerTooLarge), 'failed');
  // The lease expired and another owner acquired the request. Its reply counts, if it lives long enough to write one.
  if (saved === 'lost') return waitForOwner(batch, message, batch.endAt);
  batch.ready.push({ message, key, reply, result });
}

async function putAgain({ parts, waits, done }: Batch): Promise<void> {
  const failed = await parts.queue.putAgain(waits);
  for (const { message } of waits) if (!failed.has(message)) done.add(message);
}

async function publish(batch: Batch): Promise<void> {
  const { ready, done, counts } = batch;
  const { bus, store, clock } = batch.parts;
  const entries = ready.flatMap(({ reply: { detailType, details } }, index) =>
    details.map((detail) => ({ index, detailType, detail })),
  );
  const accepted = await bus.publish(entries).catch((cause: unknown) => {
    counts.causes.push(cause);
    return [];
  });
  const lost = new Set(entries.flatMap(({ index }, at) => (accepted[at] ? [] : [index])));
  const published = ready.filter((_, index) => !lost.has(index));
  await mapLimited(published, concurrency, async ({ message, key, result }) => {
    done.add(message);
    if (result !== 'repeated') {
      counts[result]++;
      counts.ages.push(clock() - message.sentAt);
    }
    // If this fails, a copy of the message publishes the same reply again; the message itself is done.
    await store.complete(key, clock()).catch(noteCause(batch));
  });
}

const secondsOf = (ms: number) => Math.min(900, Math.max(1, Math.ceil(ms / 1000)));
