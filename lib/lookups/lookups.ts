/**
 * Lookups by event: a batch of messages in, replies on a bus out. A request that dies with its function comes
 * back with its message, and whoever takes it then finds in the store how far it had come: there is one reply
 * to each id, however often it is delivered, and it is kept before it is published.
 */

import type { Operation } from '../catalogue/operation.ts';
import { parseRequest } from '../events/parse-request.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { type After, afterTimeout } from '../limiter/index.ts';
import { type AgeOptions, askAll, type PendingLookup } from './ask.ts';
import { createBatchMetrics } from './batch-metrics.ts';
import { deadlineOf } from './deadline.ts';
import { createDirect, type DirectReply } from './direct.ts';
import { answerTooLarge, deadlinePassed, invalid, type Refused } from './failure.ts';
import { mapLimited } from './map-limited.ts';
import type {
  LookupBus,
  LookupMessage,
  LookupQueue,
  LookupReport,
  LookupStore,
  StoredReply,
  Wait,
} from './ports.ts';
import { failedReply, failedReplyTo } from './replies.ts';
import { settle } from './settle.ts';

export interface LookupsOptions {
  readonly gateway: Gateway;
  /** What may be read; should be what the gateway offers. Those with a side effect are refused here. */
  readonly operations: readonly Operation[];
  readonly store: LookupStore;
  readonly queue: LookupQueue;
  readonly bus: LookupBus;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Runs something later; replace it in tests only. */
  readonly after?: After;
  /** From 0 to below 1. */
  readonly random?: () => number;
  /** How long a request is remembered; must be longer than its message can lie in a queue. Default 15 days. */
  readonly rememberMs?: number;
  /**
   * How the gateway shares quotes, where that is not the default: how old one may be when no age is asked for, and
   * the least age that can be asked for, in milliseconds.
   */
  readonly figures?: AgeOptions | undefined;
  /** Told of every batch and direct call when it is done. */
  readonly report?: (report: LookupReport) => void;
}

export interface Lookups {
  /**
   * @param endAt when the platform stops waiting, in milliseconds since the epoch; a second before it what is
   * unfinished is handed back
   * @returns the ids of messages that must come again; all others are done with. Resolves always.
   */
  batch(messages: readonly LookupMessage[], endAt: number): Promise<readonly string[]>;
  /** Without store, queue and bus: the caller has the reply, and asks again himself. */
  direct(event: unknown, endAt: number): Promise<DirectReply>;
}

/** For keeping and publishing what was had. */
const publishingMs = 3000;
/** With less time than this left nothing more is claimed: it could not even be asked for. */
const claimingMs = publishingMs + 1000;
/** So long before the function's end the platform hears what is unfinished. */
const handingBackMs = 1000;
/** Calls of the store at once. */
const atOnce = 16;
const dayMs = 86_400_000;

interface Job extends PendingLookup {
  readonly message: LookupMessage;
}

interface Ready {
  readonly message: LookupMessage;
  readonly id: string;
  readonly reply: StoredReply;
  readonly outcome: 'answered' | 'failed' | 'again';
}

export function createLookups(options: LookupsOptions): Lookups {
  const { gateway, operations, store, queue, bus, clock = Date.now, random = Math.random } = options;
  const { rememberMs = 15 * dayMs, after = afterTimeout, figures, report = () => {} } = options;

  async function batch(messages: readonly LookupMessage[], endAt: number): Promise<readonly string[]> {
    const owner = crypto.randomUUID();
    const tally = createBatchMetrics(report);
    /** Claimed, and to be asked for. */
    const ours = new Set<Job>();
    const ready: Ready[] = [];
    const waits: Wait[] = [];
    /** Every other message comes again, whatever became of it. */
    const done = new Set<LookupMessage>();
    /** Copies, and who in this batch stands for them. */
    const standIns = new Map<LookupMessage, LookupMessage>();
    let isOver = false;

    /** Whatever fails of ours is no fault of the request: its message comes again. */
    async function guarded(run: () => Promise<void>): Promise<void> {
      if (!isOver) await run().catch(tally.cause);
    }
    const claim = async (id: string, hash: string) => {
      const now = clock();
      return store.claim({ id, hash, owner, now, leaseUntil: endAt, expiresAt: now + rememberMs });
    };
    const waitForOwner = (message: LookupMessage, until: number) =>
      waits.push({ message, seconds: secondsOf(until - clock() + 1000) });

    async function keep(job: Job, reply: StoredReply, outcome: Ready['outcome']): Promise<void> {
      const { message, lookup } = job;
      const kept = await store.answer(lookup.requestId, owner, reply);
      if (kept === 'too_large') return keep(job, failedReply(lookup, answerTooLarge), 'failed');
      // Another took it over, because we looked dead. What he says counts, if he is not so himself.
      if (kept === 'lost') return void waitForOwner(message, endAt);
      ready.push({ message, id: lookup.requestId, reply, outcome });
    }

    async function take(job: Job): Promise<void> {
      const { message, lookup, deadline } = job;
      if (clock() > endAt - claimingMs) return;
      const taken = await claim(lookup.requestId, await hashOf(lookup.content));
      switch (taken.kind) {
        case 'busy':
          tally.count('duplicates');
          waitForOwner(message, taken.until);
          return;
        case 'other':
          return poison(message, 'id_conflict: another request had this request_id');
        case 'published':
          tally.count('duplicates');
          if (lookup.isReplay)
            ready.push({ message, id: lookup.requestId, reply: taken.reply, outcome: 'again' });
          else done.add(message);
          return;
        case 'ours':
          if (taken.reply)
            ready.push({ message, id: lookup.requestId, reply: taken.reply, outcome: 'again' });
          else if (deadline <= clock()) await keep(job, failedReply(lookup, deadlinePassed), 'failed');
          else ours.add(job);
      }
    }

    /**
     * Copies of a request in one batch are one; another request with its id is poison. A copy is done with when its
     * stand-in is: that one may lie in another batch too, which deletes it because this copy was put in its place.
     */
    async function takeAll(copies: readonly Job[]): Promise<void> {
      const seen = new Map<string, LookupMessage>();
      for (const job of copies) {
        const { message, lookup } = job;
        const standIn = seen.get(lookup.content);
        if (standIn && !lookup.isReplay) {
          tally.count('duplicates');
          standIns.set(message, standIn);
        } else await guarded(() => take(job));
        if (!standIn) seen.set(lookup.content, message);
      }
    }

    /**
     * To the dead letters at once; and its sender is told, if there is one to tell. Should that fail, the letter
     * is there all the same, and must not become two.
     */
    async function poison(message: LookupMessage, reason: string, parsed?: Refused): Promise<void> {
      await queue.deadLetter(message, reason);
      tally.count('poisoned');
      done.add(message);
      if (parsed?.requestId === undefined) return;
      const id = parsed.requestId;
      const taken = await claim(id, await hashOf(message.body));
      if (taken.kind !== 'ours') return;
      const reply = taken.reply ?? failedReplyTo(parsed.kind, { request_id: id }, invalid(parsed));
      if (taken.reply || (await store.answer(id, owner, reply)) === 'kept')
        ready.push({ message, id, reply, outcome: 'again' });
    }

    async function publish(): Promise<void> {
      const entries = ready.flatMap(({ reply: { detailType, details } }, index) =>
        details.map((detail) => ({ index, detailType, detail })),
      );
      const taken = await bus.publish(entries).catch((cause: unknown) => {
        tally.cause(cause);
        return [];
      });
      const lost = new Set(entries.flatMap(({ index }, at) => (taken[at] ? [] : [index])));
      await mapLimited([...ready.entries()], atOnce, async ([index, { message, id, outcome }]) => {
        if (lost.has(index)) return;
        done.add(message);
        if (outcome !== 'again') tally.settled(outcome, clock() - message.sentAt);
        // Should this fail, a copy of the message would publish the same again; the message itself is done.
        await store.published(id, clock()).catch(tally.cause);
      });
    }

    async function putAgain(): Promise<void> {
      const failed = await queue.putAgain(waits);
      for (const { message } of waits) if (!failed.has(message)) done.add(message);
    }

    async function work(): Promise<void> {
      const requests: Job[] = [];
      const refused: { readonly message: LookupMessage; readonly parsed: Refused }[] = [];
      for (const message of messages)
        await guarded(async () => {
          const parsed = parseRequest(message.body, operations);
          if (!parsed.ok) return void refused.push({ message, parsed });
          const { lookup } = parsed;
          requests.push({ message, lookup, deadline: deadlineOf(lookup, message.sentAt) });
        });
      await mapLimited(byRequest(requests), atOnce, takeAll);
      // After the good ones, of which it might have an id.
      await mapLimited(refused, atOnce, ({ message, parsed }) =>
        guarded(() => poison(message, `invalid_request: ${parsed.reason}`, parsed)),
      );

      // In the order of the queue, not of who was claimed first: the same batch makes the same calls.
      const jobs = requests.filter((job) => ours.has(job));
      const asked = await askAll(jobs, {
        gateway,
        clock,
        deadline: endAt - publishingMs,
        requestId: owner,
        figures,
      });
      tally.calls(asked.calls);
      await mapLimited(jobs, atOnce, (job) =>
        guarded(async () => {
          const { message, lookup, deadline } = job;
          const settled = settle(lookup, asked, { now: clock(), deadline, waits: message.waits, random });
          if (settled.kind === 'reply')
            return keep(job, settled.reply, settled.failure ? 'failed' : 'answered');
          tally.count('waiting');
          // Should this fail, the copy waits until the claim runs out by itself.
          await store.release(lookup.requestId, owner).catch(tally.cause);
          waits.push({ message, seconds: secondsOf(settled.waitMs) });
        }),
      );
      // Before the replies, which are kept: a bus that is slow must not cost those who wait a delivery.
      if (waits.length > 0) await guarded(putAgain);
      await guarded(publish);
    }

    await new Promise<void>((resolve) => {
      const cancel = after(endAt - handingBackMs - clock(), resolve);
      work()
        .catch(tally.cause)
        .finally(() => {
          cancel();
          resolve();
        });
    });
    isOver = true;
    const undone = messages.filter((message) => !done.has(standIns.get(message) ?? message));
    tally.done(undone.length);
    return [...new Set(undone.map(({ id }) => id))];
  }

  return { batch, direct: createDirect({ gateway, operations, clock, random, figures, report }) };
}

/** Each request with its copies. */
function byRequest(jobs: readonly Job[]): readonly (readonly Job[])[] {
  const groups = new Map<string, Job[]>();
  for (const job of jobs) {
    const group = groups.get(job.lookup.requestId);
    if (group) group.push(job);
    else groups.set(job.lookup.requestId, [job]);
  }
  return [...groups.values()];
}

const secondsOf = (ms: number) => Math.min(900, Math.max(1, Math.ceil(ms / 1000)));

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
