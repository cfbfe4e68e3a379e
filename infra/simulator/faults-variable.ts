/** Reads UPSTREAM_FAULTS: the faults of a simulator that runs by itself, or in the local run. */

import { StartError, type Variables } from '../environment.ts';
import { type FaultRates, faultsByChance, isPlainFault, loseFirstAnswers } from './chance.ts';
import type { SimulatorOptions } from './index.ts';

const formHint =
  'UPSTREAM_FAULTS must be a list such as lose-first,drop=0.1,repeat=0.05,late=2000: lose-first; drop, hang, drop-after, hang-after and repeat with a share from 0 to 1 of all requests, together at most 1; late with milliseconds up to 600000; seed with a whole number.';

/** @throws StartError for any other form */
export function readUpstreamFaults(env: Variables): Pick<SimulatorOptions, 'fault' | 'showAfterMs'> {
  const text = env.UPSTREAM_FAULTS;
  if (!text) return {};
  const items = new Map<string, number>();
  for (const item of text.split(',')) {
    const [, name = '', figure] = /^([a-z-]+)(?:=(\d{1,9}(?:\.\d{1,6})?))?$/.exec(item.trim()) ?? [];
    if (items.has(name) || !isItem(name, figure)) throw new StartError(formHint);
    items.set(name, Number(figure ?? 1));
  }
  const rates = Object.fromEntries([...items].filter(([name]) => isPlainFault(name))) as FaultRates;
  const byChance = chanceFault(rates, items.get('seed'));
  const first = items.has('lose-first') ? loseFirstAnswers() : () => undefined;
  const late = items.get('late');
  return {
    fault: (request) => first(request) ?? byChance(request),
    showAfterMs: late,
  };
}

/** Longest delay; an order that no read shows for more than ten minutes is lost rather than late. */
const maxLateMs = 600_000;

function isItem(name: string, figure: string | undefined): boolean {
  if (name === 'lose-first') return figure === undefined;
  if (figure === undefined) return false;
  if (name === 'seed') return /^\d+$/.test(figure);
  return name === 'late' ? /^\d+$/.test(figure) && Number(figure) <= maxLateMs : isPlainFault(name);
}

function chanceFault(rates: FaultRates, seed: number | undefined) {
  try {
    return faultsByChance(rates, seed === undefined ? {} : { seed });
  } catch {
    throw new StartError(formHint);
  }
}
