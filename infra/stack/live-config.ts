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
}

export const liveSchema = v.strictObject({ maxStreams: whole(1, 300) });

/** @param mistakes takes a sentence for each part that streams cannot do without */
export function resolveLive(
  live: LiveConfig,
  { cache }: { readonly cache: unknown },
  access: Readonly<Partial<Record<Group, unknown>>>,
  mistakes: Mistakes,
): LiveConfig {
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
