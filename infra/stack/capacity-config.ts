/** What a deployer may configure of the managed instances that hold streams of quotes. */

import * as v from 'valibot';
import type { Mistakes } from '../mistakes.ts';
import { matching, whole } from './schema-parts.ts';

export interface CapacityConfig {
  /**
   * Ids of the subnets that instances stand in, 1 to 16, best in three Availability Zones. They need a route to the
   * internet, because the upstream is there, and should have a gateway endpoint of DynamoDB.
   */
  readonly subnets: readonly string[];
  /** Ids of the instances’ security groups, 1 to 5. They must let HTTPS out; nothing comes in. */
  readonly securityGroups: readonly string[];
  /** Streams of one environment, which has a vCPU and 2 GB. Default 64, which AWS names as the most for a vCPU. */
  readonly streamsPerEnvironment?: number;
  /** Environments that are kept outside the hours below. Default 3. */
  readonly atRest?: number;
  /** From when on there are enough for all streams, Monday to Friday, in New York. Default `09:00`. */
  readonly from?: string;
  /** Until when. Default `16:15`. */
  readonly to?: string;
}

/** With nothing left open. */
export interface ResolvedCapacity extends Required<CapacityConfig> {
  /** That hold all streams. Each follows the cache by itself. */
  readonly environments: number;
}

/** Processes that may follow the cache: one key of its table carries no more of them beside those who refresh. */
export const maxFollowers = 300;
export const maxStreamsPerProcess = 1600;

const idFault = (kind: string) => `takes ids of ${kind}, as they begin with`;
const ids = (prefix: string, kind: string, most: number) =>
  v.pipe(
    v.array(matching(new RegExp(`^${prefix}-[0-9a-f]{8,17}$`), `${idFault(kind)} ${prefix}-`)),
    v.minLength(1, `takes 1 to ${most} ids of ${kind}: managed instances stand in a network of yours`),
    v.maxLength(most, `takes 1 to ${most} ids of ${kind}`),
  );
const timeOfDay = matching(/^([01]\d|2[0-3]):[0-5]\d$/, 'takes a time of the day, as 09:00');

export const capacitySchema = v.strictObject({
  subnets: ids('subnet', 'subnets', 16),
  securityGroups: ids('sg', 'security groups', 5),
  streamsPerEnvironment: v.optional(whole(1, maxStreamsPerProcess), 64),
  atRest: v.optional(whole(1, maxFollowers), 3),
  from: v.optional(timeOfDay, '09:00'),
  to: v.optional(timeOfDay, '16:15'),
});

/** @param mistakes takes a sentence for what cannot work, or costs more than streams without it */
export function resolveCapacity(
  capacity: v.InferOutput<typeof capacitySchema>,
  maxStreams: number,
  mistakes: Mistakes,
): ResolvedCapacity {
  const { streamsPerEnvironment, atRest, from, to } = capacity;
  const environments = Math.ceil(maxStreams / streamsPerEnvironment);
  if (environments > maxFollowers)
    mistakes.add(
      `live.maxStreams ${maxStreams} takes ${environments} environments of ${streamsPerEnvironment} streams, and ${maxFollowers} may follow the cache: set at most ${maxFollowers * streamsPerEnvironment}.`,
    );
  if (environments < atRest)
    mistakes.add(
      `live.capacity is for more streams than ${maxStreams}: ${atRest} environments, which are always there, hold ${atRest * streamsPerEnvironment}. Leave out live.capacity, or set live.capacity.atRest to ${environments}.`,
    );
  if (from >= to) mistakes.add(`live.capacity.from ${from} must come before live.capacity.to ${to}.`);
  return { ...capacity, environments };
}

/** What a deployer learns when the template is made. */
export const capacityInWords = ({
  environments,
  streamsPerEnvironment,
  atRest,
  from,
  to,
}: ResolvedCapacity) =>
  `live.capacity keeps ${environments} vCPUs of EC2 from ${from} to ${to}, Monday to Friday in New York, and ${atRest} at other times, each for ${streamsPerEnvironment} streams. They cost, with Lambda’s fee of 15 %, whether or not anybody listens (docs/live.md).`;
