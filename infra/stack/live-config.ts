/** What a deployer may configure of streams of quotes. */

import * as v from 'valibot';
import type { Group } from '../../lib/catalogue/groups.ts';
import { liveOperations } from '../../lib/catalogue/live.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import type { Mistakes } from '../mistakes.ts';
import { whole } from './schema-parts.ts';

export interface LiveConfig {
  /**
   * Streams that may be open at once. Each has an instance of its own, which is reserved for it and costs as long as the
   * stream is open: so there is no default.
   */
  readonly maxStreams: number;
  /**
   * How long a stream is open at most, 60 to 900 s, which is as long as Lambda lets a function run; then its client connects
   * again. An instance whose client has left unheard is paid for so long. Default 900.
   */
  readonly streamSeconds?: number;
}

/** Lambda ends a function here, and a REST API an integration that streams. */
export const mostStreamSeconds = 900;

export const liveSchema = v.strictObject({
  maxStreams: whole(1, 300),
  streamSeconds: v.optional(whole(60, mostStreamSeconds), mostStreamSeconds),
});

/** @param mistakes takes a sentence for each part that streams cannot do without */
export function resolveLive(
  live: Required<LiveConfig>,
  { cache }: { readonly cache: unknown },
  access: Readonly<Partial<Record<Group, unknown>>>,
  mistakes: Mistakes,
): Required<LiveConfig> {
  if (cache === 'off')
    mistakes.add(
      "live needs the cache, because a stream tells what the cache refreshes: leave out cache: 'off', or leave out live.",
    );
  if (!access['market-data'])
    mistakes.add('live needs groups.market-data, whose quotes streams tell: open it, or leave out live.');
  return live;
}

/** What a deployer learns when the template is made. */
export const streamsInWords = ({ maxStreams }: LiveConfig): string =>
  `live reserves ${maxStreams} instances of Lambda: each open stream takes one, and costs as long as it is open three to five times what a client costs that asks each five seconds, and less than one that asks each second (docs/live.md).`;

/** The catalogue’s, and streams where they are configured. */
export const withStreams = (
  operations: readonly Operation[],
  live: LiveConfig | undefined,
): readonly Operation[] => (live ? [...operations, ...liveOperations] : operations);
