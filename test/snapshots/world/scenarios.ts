/** The situations that the snapshot cache has to stand, at any size and length. */

import type { SnapshotOutcome } from '../../../lib/cache/snapshots/index.ts';
import { viewOfId } from '../../../lib/cache/snapshots/view.ts';
import { createRandom } from '../../world/random.ts';
import { appViews, type Client, createClients, type LoadOptions } from './load.ts';
import type { Platform } from './platform.ts';
import { type Ages, type Measured, quantiles, type StudyOptions, study } from './study.ts';

export interface Size {
  readonly clients: number;
  readonly seconds: number;
}

const load = (clients: number, change: Partial<LoadOptions> = {}) =>
  createClients(createRandom(7), { clients, symbols: 1000, ...change });

/** One category without flags, one unknown symbol in a hundred. */
export const plain = (
  { clients, seconds }: Size,
  change: Partial<LoadOptions> = {},
  more: Partial<StudyOptions> = {},
): Promise<Measured> => study({ clients: load(clients, change), seconds, ...more });

/** Two categories and the flags as apps mix them. */
export const mixed = ({ clients, seconds }: Size): Promise<Measured> =>
  study({ clients: load(clients, { views: appViews }), seconds });

export interface Outage {
  readonly measured: Measured;
  /** Answered from the beginning of the outage to its end, of how many. */
  readonly meanwhile: readonly [answered: number, requests: number];
  /** From five seconds after its end on, for three. */
  readonly afterwards: Ages;
}

export type Absent = 'upstreamDown' | 'storeAway' | 'limiterAway';

export interface OutageOptions {
  readonly from: number;
  /** Default half a minute. */
  readonly forSeconds?: number;
  readonly downBy?: 'error' | 'silence';
}

export interface Absence extends OutageOptions {
  readonly what: readonly Absent[];
}

/** The upstream, the store of snapshots or that of the limiter is away for a while, or several are at once. */
export async function outage(size: Size, what: readonly Absent[], options: OutageOptions): Promise<Outage> {
  const { measured, each } = await outages(size, [{ what, ...options }]);
  return { measured, ...each[0]! };
}

/** The same several times, one after the other in one world. */
export async function outages({ clients, seconds }: Size, absences: readonly Absence[]) {
  const all = absences.map(({ from, forSeconds = 30, downBy = 'error', what }) => {
    const to = from + forSeconds;
    return { from, to, downBy, what, meanwhile: [0, 0] as [number, number], ages: [] as number[] };
  });
  let start: number | undefined;
  const onAnswer = (_: Client, outcome: SnapshotOutcome, arrived: number, now: number) => {
    start ??= arrived;
    const second = (arrived - start) / 1000;
    for (const { from, to, meanwhile, ages } of all) {
      if (second >= from && second < to) {
        meanwhile[1]++;
        if (outcome.kind === 'snapshots') meanwhile[0]++;
      }
      if (second >= to + 5 && second < to + 8 && outcome.kind === 'snapshots')
        for (const { sentAt } of outcome.snapshots) ages.push(now - sentAt);
    }
  };
  const away = (one: Absent) =>
    all.filter(({ what }) => what.includes(one)).map(({ from, to, downBy }) => [from, to, downBy] as const);
  const spans = {
    upstreamDown: away('upstreamDown'),
    storeAway: away('storeAway'),
    limiterAway: away('limiterAway'),
  };
  const measured = await plain({ clients, seconds }, {}, { ...spans, onAnswer });
  const each = all.map(({ meanwhile, ages }) => ({ meanwhile, afterwards: quantiles(ages) }));
  return { measured, each };
}

/** Symbols that exist and that no client has requested, one every two seconds: how long their requests wait. */
export async function rareSymbols({ clients, seconds }: Size): Promise<Ages> {
  const waits: number[] = [];
  await plain(
    { clients, seconds },
    { invalidShare: 0 },
    {
      also: ({ time, ask }) => {
        for (let second = 20, index = 0; second < seconds - 5; second += 2, index++)
          time.after(second * 1000 + index * 37, async () => {
            const call = { view: viewOfId('US_STOCK'), symbols: [`RARE${index}`], caller: 'key-1' };
            const asked = time.now();
            const outcome = await ask({ call, existing: 1 });
            waits.push(outcome?.kind === 'snapshots' ? time.now() - asked : Number.POSITIVE_INFINITY);
          });
      },
    },
  );
  return quantiles(waits);
}

export interface Poisoned {
  readonly clean: Measured;
  readonly poisoned: Measured;
}

/**
 * One caller has one phone in twenty, each of which asks for a symbol that does not exist, another one each
 * time; without poison they ask for existing ones alone.
 */
export function poisonLoad(clients: number): Readonly<Record<'clean' | 'poisoned', readonly Client[]>> {
  const others = load(Math.round(clients * 0.95));
  const invalid = load(Math.round(clients * 0.05), { caller: 'poison-', callers: 1, invalidShare: 0 });
  let count = 0;
  const poisonous = invalid.map((client) => ({
    existing: client.existing - 1,
    get call() {
      const [, ...symbols] = client.call.symbols;
      return { ...client.call, symbols: [`0X${(count++).toString(36)}`, ...symbols] };
    },
  }));
  return { clean: [...others, ...invalid], poisoned: [...others, ...poisonous] };
}

/** Ages are those of all others, once the cold start is over. */
export async function poison({ clients, seconds }: Size, countFrom: number): Promise<Poisoned> {
  const loads = poisonLoad(clients);
  const counts = ({ call }: Client) => !call.caller.startsWith('poison');
  const run = (all: readonly Client[]) => study({ clients: all, seconds, countFrom, counts });
  return { clean: await run(loads.clean), poisoned: await run(loads.poisoned) };
}

/** So many phones are there, and so many more come within five seconds. */
export interface Storm {
  readonly warm: number;
  readonly clients: number;
  readonly seconds: number;
  readonly platform?: Platform;
  readonly symbols?: number;
}

/** When the phones of a storm come, in seconds: what the first ones used of the limit at their own start has come back. */
export const stormAt = 70;

export function storm(
  { warm, clients, seconds, platform, symbols = 1000 }: Storm,
  more: Partial<StudyOptions> = {},
) {
  const from = warm > 0 ? stormAt : 0;
  return plain(
    { clients: warm + clients, seconds: from + seconds },
    { symbols },
    {
      beginsAt: (index, chance) => (index < warm ? 0 : from) + 5 * chance,
      ...(platform && { platform }),
      ...more,
    },
  );
}

/** The tables of snapshots and of the limiter are lost or throttled, for one minute and for three: a line for each. */
export async function lostStores(clients = 5000): Promise<readonly string[]> {
  const lines: string[] = [];
  const from = 20;
  for (const minutes of [1, 3]) {
    const to = from + 60 * minutes;
    const away = { storeAway: [[from, to]], limiterAway: [[from, to]] } as const;
    const losses: readonly (readonly [string, Partial<StudyOptions>])[] = [
      ['lost for all', away],
      ['lost for half', { ...away, awayPart: 0.5 }],
      ...[0.2, 0.5, 0.9, 1].map(
        (part) => [`throttled ${100 * part} %`, { throttled: [from, to, part] as const }] as const,
      ),
    ];
    for (const [name, loss] of losses) {
      const measured = await plain({ clients, seconds: to + 20 }, {}, loss);
      const { worstMinute, ages } = measured;
      const meanwhile = answeredPart(measured, from, to);
      const later = answeredPart(measured, to + 3, to + 20);
      lines.push(
        `${name}, ${minutes} min: ${meanwhile} answered, then ${later}; ${worstMinute} in the worst minute; ages up to ${(ages.max / 1000).toFixed(0)} s`,
      );
    }
  }
  return lines;
}

function answeredPart({ bySecond }: Measured, from: number, to: number): string {
  const seconds = bySecond.slice(from, to);
  const sum = (at: 0 | 1) => seconds.reduce((total, counts) => total + counts[at], 0);
  return `${((100 * sum(0)) / sum(1)).toFixed(2)} %`;
}
