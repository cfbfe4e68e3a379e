/** Puts our own events onto a bus of EventBridge; entries that the bus did not accept are put again. */

import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { replySource } from '../../lib/events/names.ts';
import { type BackOff, backOffMs, sleep as sleepWithTimer } from '../../lib/kernel/pauses.ts';
import type { BusDetail, LookupBus } from '../../lib/lookups/index.ts';

interface EventBridgeOptions {
  readonly busName: string;
  /** Replaces the Region's endpoint; without it, the client reads AWS_ENDPOINT_URL itself. */
  readonly endpoint?: string;
  /** Time limit of one attempt of two. Default 2 seconds. */
  readonly timeoutMs?: number;
  /** Called for every put that failed, wholly or in part. */
  readonly onFailure?: (error: unknown) => void;
  /** Pauses between puts; replace it in tests only. */
  readonly sleep?: (milliseconds: number) => Promise<void>;
}

/** Most entries and bytes that EventBridge accepts in a put. */
const maxEntries = 10;
const maxBytes = 250 * 1024;
/** How often an entry is put in all. */
const rounds = 3;
const pauses: BackOff = { firstMs: 400, maxMs: 2000 };

export function createEventBus(options: EventBridgeOptions): LookupBus {
  const { busName, endpoint, timeoutMs = 2000, onFailure, sleep = sleepWithTimer } = options;
  const client = new EventBridgeClient({
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      // Without this option, the client only warns after its time-out, and continues to wait.
      throwOnRequestTimeout: true,
    },
    ...(endpoint !== undefined && { endpoint }),
  });

  /** @returns the entries that the bus did not accept */
  async function put(batch: readonly Numbered[]): Promise<readonly Numbered[]> {
    try {
      const { Entries = [] } = await client.send(
        new PutEventsCommand({
          Entries: batch.map(({ detailType, detail }) => ({
            EventBusName: busName,
            Source: replySource,
            DetailType: detailType,
            Detail: detail,
          })),
        }),
      );
      const lost = batch.filter((_, index) => !Entries[index]?.EventId);
      if (lost.length > 0)
        onFailure?.(
          Object.assign(new Error(), {
            code: Entries.find(({ ErrorCode }) => ErrorCode)?.ErrorCode ?? 'PutEvents',
          }),
        );
      return lost;
    } catch (error) {
      onFailure?.(error);
      return batch;
    }
  }

  return {
    async publish(entries) {
      let left: readonly Numbered[] = entries.map((entry, index) => ({ ...entry, index }));
      for (let round = 0; left.length > 0 && round < rounds; round++) {
        if (round > 0) await sleep(backOffMs(pauses, round - 1));
        left = (await Promise.all(batches(left).map(put))).flat();
      }
      const lost = new Set(left.map(({ index }) => index));
      return entries.map((_, index) => !lost.has(index));
    },
  };
}

type Numbered = BusDetail & { readonly index: number };

function batches(entries: readonly Numbered[]): readonly (readonly Numbered[])[] {
  const found: Numbered[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = Buffer.byteLength(entry.detail) + entry.detailType.length + replySource.length;
    const last = found.at(-1);
    if (last && last.length < maxEntries && bytes + size <= maxBytes) {
      last.push(entry);
      bytes += size;
    } else {
      found.push([entry]);
      bytes = size;
    }
  }
  return found;
}
