/**
 * Lookups by event: reads a batch of messages and publishes replies on a bus, or answers one lookup directly. The platform's
 * time limit ends every batch: messages that are unfinished by then are delivered again.
 */

import type { KeyedNames } from '../access/directory.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { type After, afterTimeout } from '../limiter/index.ts';
import type { AgeOptions } from './ask.ts';
import { type BatchParts, LookupBatch } from './batch.ts';
import { createDirectLookup, type DirectReply } from './direct.ts';
import type { LookupBus, LookupMessage, LookupQueue, LookupReport, LookupStore } from './ports.ts';

interface LookupsWiring {
  readonly gateway: Pick<Gateway, 'ask'>;
  /** Should be the operations that the gateway offers. Lookups refuse those with a side effect. */
  readonly operations: readonly Operation[];
  readonly store: LookupStore;
  readonly queue: LookupQueue;
  readonly bus: LookupBus;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
  /**
   * The gateway's snapshot options, if they are not the default: the largest age of a quote when the request names no age,
   * and the smallest age that a request can name, in milliseconds.
   */
  readonly ages: AgeOptions | undefined;
  /** Keyed names by which the store compares requests for account data. Default: plain hashes of their content. */
  readonly names: KeyedNames | undefined;
  /** Called at the end of every batch and direct call. */
  readonly report: (report: LookupReport) => void;
}

interface LookupSeams {
  readonly after?: After;
  /** From 0 to below 1. */
  readonly random?: () => number;
  /**
   * Time for which the store remembers a request; must be longer than its message can stay in a queue. Default 15 days.
   */
  readonly rememberMs?: number;
}

export type LookupsOptions = LookupsWiring & LookupSeams;

export interface Lookups {
  /**
   * Answers a batch of messages. Never rejects.
   *
   * @param endAt when the platform stops waiting, in milliseconds since the epoch; the batch returns a second before that
   * @returns the ids of unfinished messages, which must be delivered again; all others are done
   */
  batch(messages: readonly LookupMessage[], endAt: number): Promise<readonly string[]>;
  /** Answers one lookup without store, queue and bus: the caller receives the reply, and repeats the call if needed. */
  direct(event: unknown, endAt: number): Promise<DirectReply>;
}

/** Time before the function's end at which it reports unfinished messages to the platform. */
const handingBackMs = 1000;
const dayMs = 86_400_000;

/**
 * @example
 * const lookups = createLookups({ gateway, operations, store, queue, bus });
 * const comeAgain = await lookups.batch(messages, Date.now() + 25_000);
 */
export function createLookups(options: LookupsOptions): Lookups {
  const { gateway, operations, store, queue, bus, clock, random = Math.random } = options;
  const { rememberMs = 15 * dayMs, after = afterTimeout, ages, names, report } = options;
  const parts: BatchParts = {
    gateway,
    operations,
    store,
    queue,
    bus,
    clock,
    random,
    rememberMs,
    ages,
    names,
    report,
  };
  return {
    async batch(messages, endAt) {
      const batch = new LookupBatch(parts, messages, endAt);
      await new Promise<void>((resolve) => {
        const cancel = after(endAt - handingBackMs - clock(), resolve);
        batch.run().finally(() => {
          cancel();
          resolve();
        });
      });
      return batch.end();
    },
    direct: createDirectLookup({ gateway, operations, clock, random, ages, report }),
  };
}
