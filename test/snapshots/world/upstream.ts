/**
 * The upstream of the virtual clock: records of the members and the size of the simulator's, a latency of 80 ms at
 * the median and 400 ms at the 99th percentile, and the times when requests arrive.
 */

import type { AskUpstream, RefreshAnswer } from '../../../lib/cache/snapshots/ports.ts';
import { normal } from '../../world/random.ts';
import type { VirtualTime } from '../../world/virtual-time.ts';

export interface VirtualUpstream {
  readonly ask: AskUpstream;
  /** When each request arrived, in milliseconds. */
  readonly arrivals: readonly number[];
  readonly requests: readonly { readonly at: number; readonly symbols: number; readonly result: string }[];
  /** @param by how it fails; default: as the upstream was made with */
  setDown(down: boolean, by?: VirtualUpstreamOptions['downBy']): void;
}

const medianMs = 80;
/** So that the 99th percentile is 400 ms. */
const spread = Math.log(400 / 80) / 2.326;

export interface VirtualUpstreamOptions {
  readonly exists: (symbol: string) => boolean;
  /** How it answers a call with a symbol that does not exist: refused whole, naming it or not, or left out. */
  readonly unknown?: 'refuses-naming' | 'refuses' | 'leaves-out' | undefined;
  /** Whether it fails by silence. */
  readonly downBy?: 'silence' | 'error' | undefined;
}

export function createVirtualUpstream(
  time: VirtualTime,
  random: () => number,
  { exists, unknown = 'refuses-naming', downBy = 'error' }: VirtualUpstreamOptions,
): VirtualUpstream {
  let down = false;
  let failsBy = downBy;
  const arrivals: number[] = [];
  const requests: { at: number; symbols: number; result: string }[] = [];

  function answer(symbols: readonly string[], flags: readonly string[]): RefreshAnswer {
    const wrong = symbols.find((symbol) => !exists(symbol));
    if (wrong !== undefined && unknown !== 'leaves-out') {
      const message = unknown === 'refuses' ? 'A symbol is not known' : `Symbol not known, ${wrong}`;
      return { kind: 'rejected', error: { status: 417, errorCode: 'INVALID_SYMBOL', message } };
    }
    const at = time.now();
    const records = symbols.filter(exists).map((symbol) => recordOf(symbol, at, flags));
    return { kind: 'answer', body: new TextEncoder().encode(`[${records.join(',')}]`) };
  }

  return {
    arrivals,
    requests,
    setDown(isDown, by = downBy) {
      down = isDown;
      failsBy = by;
    },
    async ask(view, symbols, _permit, timeoutMs) {
      const total = medianMs * Math.exp(spread * normal(random));
      const way = Math.min(total / 3, 250);
      await time.sleep(way);
      arrivals.push(time.now());
      const answered: RefreshAnswer = down
        ? { kind: 'failed' }
        : answer(
            symbols,
            view.query.map(([name]) => name),
          );
      requests.push({ at: time.now(), symbols: symbols.length, result: answered.kind });
      const untilAnswer = down && failsBy === 'silence' ? timeoutMs : Math.min(total, timeoutMs);
      await time.sleep(untilAnswer - way);
      return total > timeoutMs ? { kind: 'failed' } : answered;
    },
  };
}

/** The moment of its making stands in each record, so that an age can be checked. */
export const madeAt = (record: Uint8Array): number =>
  (JSON.parse(new TextDecoder().decode(record)) as { last_trade_time: number }).last_trade_time;

export function recordOf(symbol: string, at: number, flags: readonly string[]): string {
  let chance = 7;
  for (let index = 0; index < symbol.length; index++)
    chance = Math.imul(chance ^ symbol.charCodeAt(index), 0x01000193);
  const base = 800 + (Math.abs(chance) % 40_000);
  const noise = Math.abs(Math.imul(chance ^ Math.floor(at / 1000), 0x9e3779b1));
  const price = base + (noise % 200);
  const day = {
    symbol,
    instrument_id: String(930_000_017 + (Math.abs(chance) % 140_000)),
    price: money(price),
    open: money(base + (chance & 127)),
    high: money(base + 200 + ((chance >> 7) & 63)),
    low: money(base - 1 - ((chance >> 13) & 63)),
    volume: String((noise % 9_000_000) + 100_000),
    change: money(price - base),
    change_ratio: ((price - base) / base).toFixed(4),
    pre_close: money(base),
    last_trade_time: at,
    close: money(price),
    ...sidesOf('', price, noise),
    turnover: ((noise % 900) / 10_000).toFixed(4),
    ...factsOf(chance, price, at - (noise % 2000)),
  };
  const session = (prefix: string, own: number) => ({
    [`${prefix}_high`]: money(base + 130 + (own % 50)),
    [`${prefix}_low`]: money(base - 20 - (own % 70)),
    [`${prefix}_change`]: money(own % 90),
    [`${prefix}_change_ratio`]: ((own % 90) / base).toFixed(4),
    [`${prefix}_volume`]: String(own % 180_000),
    [`${prefix}_last_trade_time`]: at,
  });
  return JSON.stringify({
    ...day,
    ...(flags.includes('extend_hour_required') && {
      extend_hour_last_price: money(price + (noise % 40)),
      ...session('extend_hour', noise >> 3),
    }),
    ...(flags.includes('overnight_required') && {
      ovn_price: money(price - (noise % 70)),
      ...session('ovn', noise >> 5),
      ...sidesOf('ovn_', price - (noise % 70), noise >> 5),
    }),
  });
}

const money = (cents: number) => (cents / 100).toFixed(2);

const sidesOf = (prefix: string, price: number, noise: number) => ({
  [`${prefix}ask`]: money(price + 1 + ((noise >> 2) % 3)),
  [`${prefix}ask_size`]: String(100 * (1 + (noise % 9))),
  [`${prefix}bid`]: money(price - 1 - ((noise >> 6) % 3)),
  [`${prefix}bid_size`]: String(100 * (1 + ((noise >> 4) % 9))),
});

/** What the price means for the company, whose shares and earnings are those of its symbol. */
function factsOf(chance: number, price: number, time: number) {
  const part = (factor: number, size: number) => Math.abs(Math.imul(chance, factor) >> 3) % size;
  const shares = String(30_000_000 + part(0x85ebca6b, 900_000_000));
  const worth = Math.round((Number(shares) * price) / 100);
  const ratioTo = (hundredths: number) => ((price * hundredths) / 1_000_000).toFixed(2);
  return {
    quote_time: Math.floor(time),
    pe_ratio: ratioTo(700 + part(0xc2b2ae35, 1500)),
    pb_ratio: ratioTo(70 + part(0x27d4eb2f, 300)),
    ps_ratio: ratioTo(90 + part(0x165667b1, 200)),
    yield: (part(0x9e3779b1, 400) / price).toFixed(4),
    market_value: String(worth),
    neg_market_value: String(worth),
    total_shares: shares,
    out_standing_shares: shares,
    fifty_two_wk_high: ((price * (1040 + part(0xd35a2d97, 400))) / 100_000).toFixed(2),
    fifty_two_wk_low: ((price * (960 - part(0xfd7046c5, 400))) / 100_000).toFixed(2),
    list_status: 'LISTED',
  };
}
