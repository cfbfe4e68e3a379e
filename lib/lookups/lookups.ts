/**
 * Lookups by event: a batch of messages in, replies on a bus out; or one lookup directly. The platform's time ends
 * every batch: what is unfinished by then comes again.
 */

import type { KeyedNames } from '../access/directory.ts';
import type { Operation } from '../catalogue/operation.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { type After, afterTimeout } from '../limiter/index.ts';
import type { AgeOptions } from './ask.ts';
import { type BatchParts, LookupBatch } from './batch.ts';
import { createDirectLookup, type DirectReply } from './direct.ts';
import type { LookupBus, LookupMessage, LookupQueue, LookupReport, LookupStore } from './ports.ts';

export interface LookupsWiring {
  readonly gateway: Pick<Gateway, 'ask'>;
  /** Should be what the gateway offers. Lookups refuse those with a side effect. */
  readonly operations: readonly Operation[];
  readonly store: LookupStore;
  readonly queue: LookupQueue;
  readonly bus: LookupBus;
  /** Now, in milliseconds since the epoch. */
  readonly clock: () => number;
  /**
   * The gateway's snapshot options, where they are not the default: how old a quote may be when the request names
   * no age, and the smallest age that a request can name, in milliseconds.
   */
  readonly ages: AgeOptions | undefined;
  /** Requests for account data are compared in the store by names of their content. Default: by plain hashes. */
  readonly names: KeyedNames | undefined;
  /** Called at the end of every batch and direct call. */
  readonly report: (report: LookupReport) => void;
}

export interface LookupSeams {
  readonly after?: After;
  /** From 0 to below 1. */
  readonly random?: () => number;
  /**
   * How long the store remembers a request; must be longer than its message can stay in a queue. Default 15 days.
   */
  readonly rememberMs?: number;
}

export type LookupsOptions = LookupsWiring & LookupSeams;

export interface Lookups {
  /**
   * @param endAt when the platform stops waiting, in milliseconds since the epoch; a second before it the batch
   * hands back what is unfinished
   * @returns the ids of messages that must come again; all others are done. Always resolves.
   */
  batch(messages: readonly LookupMessage[], endAt: number): Promise<readonly string[]>;
  /** Without store, queue and bus: the caller receives the reply, and repeats the call itself. */
  direct(event: unknown, endAt: number): Promise<DirectReply>;
}

/** So long before its end the function tells the platform what is unfinished. */
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
