/** What a deployer may configure of streams. */

import * as v from 'valibot';
import { type FunctionName, functionOf } from '../../functions/rows.ts';
import type { Group } from '../../lib/catalogue/groups.ts';
import { liveOperations } from '../../lib/catalogue/live.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import type { Mistakes } from '../mistakes.ts';
import {
  type CapacityConfig,
  capacityInWords,
  capacitySchema,
  maxFollowers,
  maxStreamsPerProcess,
  type ResolvedCapacity,
  resolveCapacity,
} from './capacity-config.ts';
import { whole } from './schema-parts.ts';

export interface LiveConfig {
  /**
   * Streams of quotes that may be open at once. Each has an instance of its own, which is reserved for it and costs as long
   * as the stream is open: so there is no default. Without it there are none.
   */
  readonly maxStreams?: number;
  /** The same of order and position events, which the stage's `tradeEvents` brings. */
  readonly maxOrderStreams?: number;
  /**
   * How long a stream is open at most, 60 to 900 s, which is as long as Lambda lets a function run; then its client connects
   * again. An instance whose client has left unheard is paid for so long. Default 900.
   */
  readonly streamSeconds?: number;
  /**
   * Managed instances that hold the streams of quotes, many in each, in a network of the deployer’s: for thousands. They
   * cost whether or not anybody listens. Default none.
   */
  readonly capacity?: CapacityConfig;
}

/** With nothing left open. */
export interface ResolvedLive {
  /** By the function that holds them, how many streams may be open at once. */
  readonly streams: Readonly<Partial<Record<FunctionName, number>>>;
  readonly streamSeconds: number;
  readonly capacity?: ResolvedCapacity;
}

/** Lambda ends a function here, and a REST API an integration that streams. */
export const mostStreamSeconds = 900;

export const liveSchema = v.strictObject({
  maxStreams: v.optional(whole(1, maxFollowers * maxStreamsPerProcess)),
  maxOrderStreams: v.optional(whole(1, 300)),
  streamSeconds: v.optional(whole(60, mostStreamSeconds), mostStreamSeconds),
  capacity: v.optional(capacitySchema),
});

interface Surroundings {
  readonly cache: unknown;
  readonly tradeEvents?: unknown;
  /** Undefined where it is wrong itself. */
  readonly limiter?: { readonly reserve?: number | undefined };
}

/** @param mistakes takes a sentence for each part that streams cannot do without */
export function resolveLive(
  { maxStreams, maxOrderStreams, streamSeconds, capacity: managed }: v.InferOutput<typeof liveSchema>,
  { cache, tradeEvents, limiter }: Surroundings,
  access: Readonly<Partial<Record<Group, unknown>>>,
  mistakes: Mistakes,
): ResolvedLive {
  if (maxStreams === undefined && maxOrderStreams === undefined)
    mistakes.add('live needs maxStreams, maxOrderStreams or both: without them it opens no stream.');
  if (maxStreams !== undefined && cache === 'off')
    mistakes.add(
      "live.maxStreams needs the cache, because a stream tells what the cache refreshes: leave out cache: 'off', or leave out live.maxStreams.",
    );
  if (maxStreams !== undefined && !access['market-data'])
    mistakes.add(
      'live.maxStreams needs groups.market-data, whose quotes streams tell: open it, or leave out live.maxStreams.',
    );
  if (maxOrderStreams !== undefined && !(tradeEvents && access.orders))
    mistakes.add(
      'live.maxOrderStreams needs tradeEvents and groups.orders, whose events streams tell: open both, or leave out live.maxOrderStreams.',
    );
  if (!managed && maxStreams !== undefined && maxStreams > maxFollowers)
    mistakes.add(
      `live.maxStreams takes a whole number from 1 to ${maxFollowers} without live.capacity: each stream has an instance of its own.`,
    );
  if (managed && maxStreams === undefined && maxOrderStreams !== undefined)
    mistakes.add('live.capacity needs live.maxStreams: it holds streams of quotes.');
  if (managed && limiter?.reserve)
    mistakes.add(
      'live.capacity needs limiter.reserve 0: the reserve is divided by reserved concurrency, and managed instances have none.',
    );
  const capacity = managed && maxStreams !== undefined && resolveCapacity(managed, maxStreams, mistakes);
  return {
    ...(capacity && { capacity }),
    streams: {
      ...(maxStreams !== undefined && { 'quote-streams': maxStreams }),
      ...(maxOrderStreams !== undefined && { 'order-streams': maxOrderStreams }),
    },
    streamSeconds,
  };
}

/** What a deployer learns when the template is made. */
export function streamsInWords(live: ResolvedLive): readonly string[] {
  const all = Object.values(reservedStreams(live)).reduce((sum, count) => sum + count, 0);
  return [
    ...(all > 0 ? [reservedInWords(all)] : []),
    ...(live.capacity ? [capacityInWords(live.capacity)] : []),
  ];
}

/** Those that have an instance of their own, by the function that holds them. */
export const reservedStreams = ({ streams, capacity }: ResolvedLive): ResolvedLive['streams'] =>
  Object.fromEntries(Object.entries(streams).filter(([name]) => !(capacity && name === 'quote-streams')));

const reservedInWords = (all: number) =>
  `live reserves ${all} Lambda instances, one for each open stream. An open stream costs three to five times what a client costs that polls every five seconds, but less than one that polls each second (docs/live.md).`;

/** Without those on managed instances, which nothing is reserved for. */
export const withReservedStreams = (
  operations: readonly Operation[],
  live: ResolvedLive | undefined,
): readonly Operation[] => withStreams(operations, live && { ...live, streams: reservedStreams(live) });

/** The catalogue’s, and streams where they are configured. */
export const withStreams = (
  operations: readonly Operation[],
  live: ResolvedLive | undefined,
): readonly Operation[] => [
  ...operations,
  ...liveOperations.filter((operation) => live?.streams[functionOf(operation)]),
];
