/** Instances that serve what the stream and fetches bring, and what their users would notice: values too old, or gone back. */

import {
  type createMemorySnapshotStore,
  FollowedSnapshots,
  type StreamedLog,
  viewOf,
} from '../../lib/cache/snapshots/index.ts';
import { createRandom } from '../world/random.ts';
import type { VirtualTime } from '../world/virtual-time.ts';
import { type Market, recordOf } from './world.ts';

const view = viewOf([['category', 'US_STOCK']]);

export interface Seen {
  /** Ages that were told of each symbol at each look. */
  readonly ages: { readonly at: number; readonly ageMs: number }[];
  /** A trade that the record should have shown at its age, and did not, with the moment that it was told to be of. */
  readonly tooOld: { readonly as: number; readonly what: string }[];
  readonly wentBack: string[];
  /** Fetches of the upstream, and the symbols of each. */
  readonly fetches: { readonly at: number; readonly symbols: readonly string[] }[];
}

export interface InstanceOptions {
  readonly store: ReturnType<typeof createMemorySnapshotStore>;
  readonly log: StreamedLog | undefined;
  readonly symbols: readonly string[];
  readonly instances?: number;
  /** How far behind the market a fetch is. */
  readonly lagMs?: number;
  readonly isDown?: () => boolean;
}

const upstreamMs = 80;

/** They look at every symbol twice a second. */
export function followAll(time: VirtualTime, market: Market, options: InstanceOptions): Seen {
  const { store, log, symbols, instances = 2, lagMs = 0, isDown = () => false } = options;
  const seen: Seen = { ages: [], tooOld: [], wentBack: [], fetches: [] };
  const encoder = new TextEncoder();
  for (let index = 0; index < instances; index++) {
    const random = createRandom(100 + index);
    const cache = new FollowedSnapshots({
      store,
      streamed: log,
      permits: { acquire: async () => ({ ok: true, permit: { expiresAt: Infinity, consume: () => true } }) },
      upstream: async (_view, asked) => {
        seen.fetches.push({ at: time.now(), symbols: asked });
        await time.sleep(upstreamMs / 2);
        if (isDown()) return { kind: 'failed' };
        const records = asked.map((symbol) => recordOf(symbol, market.lastOf(symbol, time.now() - lagMs)));
        await time.sleep(upstreamMs / 2);
        return { kind: 'answer', body: encoder.encode(`[${records.join()}]`) };
      },
      clock: time.now,
      sleep: time.sleep,
      random,
    });
    const shown = new Map<string, number>();
    const look = () => {
      for (const symbol of symbols) {
        const found = cache.look(view, symbol);
        if (found.kind !== 'known') continue;
        const { record, sentAt } = found.snapshot;
        const { last_trade_time: at } = JSON.parse(new TextDecoder().decode(record)) as {
          last_trade_time: number;
        };
        seen.ages.push({ at: time.now(), ageMs: time.now() - sentAt });
        const due = market.lastOf(symbol, sentAt - lagMs).at;
        if (at < due)
          seen.tooOld.push({
            as: sentAt,
            what: `${symbol}: trade of ${at}, due ${due}, told as of ${sentAt}`,
          });
        if (at < (shown.get(symbol) ?? 0)) seen.wentBack.push(`${symbol}: ${shown.get(symbol)} → ${at}`);
        shown.set(symbol, at);
      }
      time.after(500, look);
    };
    const follow = () => {
      void cache.follow();
      time.after(100, follow);
    };
    const ask = () => {
      for (const symbol of symbols) cache.count(view, symbol, 1);
      void cache.ask({ view, symbols: symbols.slice(0, 100), caller: 'c', deadline: time.now() + 3000 });
      for (let from = 100; from < symbols.length; from += 100)
        void cache.ask({
          view,
          symbols: symbols.slice(from, from + 100),
          caller: 'c',
          deadline: time.now() + 3000,
        });
      time.after(5000, ask);
    };
    time.after(300 * index, ask);
    time.after(300 * index + 50, follow);
    time.after(10_000, look);
  }
  return seen;
}

/** The oldest age that was told between two moments. */
export const oldest = ({ ages }: Seen, from: number, to = Number.POSITIVE_INFINITY): number =>
  Math.max(...ages.filter(({ at }) => at >= from && at < to).map(({ ageMs }) => ageMs));
