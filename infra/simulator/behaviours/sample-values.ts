/** Invents single values for an answer from a schema: plausible ones by a member's name and format. */

import { fraction, hexText, identifier, mix } from '../random.ts';

/** Rules that a schema states for a text or a number beside its type. */
export interface Constraints {
  readonly format?: string;
  /** Bound of a number's value, or of a text's or list's length. */
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface Slot {
  /** Name of the nearest member. */
  readonly name: string;
  readonly noise: number;
  /** Position in the innermost list. */
  readonly index: number;
  /** Unix time in milliseconds. */
  readonly now: number;
}

const dayMilliseconds = 86_400_000;

/** Candidate texts, the best first. */
export function textsFor(slot: Slot, { format, minimum = 0, maximum }: Constraints): readonly string[] {
  const { name, noise, index } = slot;
  const time = new Date(momentOf(slot));
  const day = time.toISOString().slice(0, 10);
  const plain = plainText(name, noise, index);
  const others = [
    plain,
    decimalText(name, noise),
    day,
    day.replaceAll('-', ''),
    time.toISOString(),
    `https://example.com/${name.replaceAll('_', '-')}/${index + 1}`,
    identifier(noise, 26),
    String(1 + (noise % 9)),
    '0123456789abcdef'.repeat(2),
    fillLength(plain, minimum, maximum),
    fillLength('1', minimum, maximum),
  ];
  if (format === 'decimal') return [decimalText(name, noise), ...others];
  if (format === 'uri') return [others[5]!, ...others];
  if (format === 'date' || /(^|_)date$/.test(name)) return [day, ...others];
  if (/_at$/.test(name)) return [time.toISOString(), ...others];
  return others;
}

/** Candidate numbers, the best first. */
export function numbersFor(slot: Slot, { format, minimum, maximum }: Constraints): readonly number[] {
  const { name, noise, index } = slot;
  const small = 1 + (noise % 9);
  const bounds = [minimum, maximum].filter((bound) => bound !== undefined);
  const inside = minimum !== undefined && maximum !== undefined ? [Math.ceil((minimum + maximum) / 2)] : [];
  const others = [small, momentOf(slot), 0, ...inside, ...bounds, 0.5];
  if (format === 'int64' || /(time|_at|expires)$/.test(name)) return [momentOf(slot), ...others];
  if (/year$/.test(name)) return [new Date(slot.now).getUTCFullYear() - index, ...others];
  if (/period$/.test(name)) return [1 + (noise % 4), ...others];
  if (/^(rank|sort)$/.test(name)) return [index + 1, ...others];
  return others;
}

/** Picks a whole minute near now, further back in each record of a list; days are those before. */
function momentOf({ name, index, now }: Slot): number {
  const minute = Math.floor(now / 60_000) * 60_000;
  const time = /expire/.test(name) ? minute + 15 * dayMilliseconds : minute - index * 60_000;
  return Math.max(0, /date/.test(name) ? time - (index + 1) * dayMilliseconds : time);
}

function decimalText(name: string, noise: number): string {
  const part = fraction(mix(noise, 1));
  if (/ratio|rate|margin|yield|amplitude|delta|gamma|theta|vega|rho|vol$/.test(name)) return part.toFixed(4);
  if (/pct|percent/.test(name)) return (100 * part).toFixed(2);
  if (/volume|size|shares|employees|interest|number|buy|sell|hold|perform|advanced|declined|flat/.test(name))
    return String(100 + Math.floor(900 * part));
  if (/value|aum|revenue|assets|liab|income|profit|debt|equity|cash|_in$|_out$/.test(name))
    return String(1_000_000 + Math.floor(9_000_000 * part));
  if (/quantity|multiplier|lot/.test(name)) return String(1 + (noise % 20));
  return (10 + 190 * part).toFixed(2);
}

function plainText(name: string, noise: number, index: number): string {
  if (/^symbol$|_symbol$/.test(name)) return ['AAPL', 'MSFT', 'NVDA'][index % 3]!;
  if (name === 'category') return 'US_STOCK';
  if (/currency/.test(name)) return 'USD';
  if (name === 'market') return 'US';
  if (/exchange/.test(name)) return 'NSQ';
  if (name === 'token') return hexText(noise);
  if (name === 'instrument_id') return String(930_000_000 + (noise % 1_000_000));
  if (/(^|_)id$/.test(name)) return identifier(noise, 12);
  if (/key$/.test(name)) return identifier(noise, 16);
  // Placeholder that names the member.
  return `Example ${name.replaceAll('_', ' ')}${index > 0 ? ` ${index + 1}` : ''}`;
}

/** Repeats and cuts the text until its length is within the bounds. */
function fillLength(text: string, minimum: number, maximum: number = Math.max(minimum, text.length)): string {
  return text.repeat(Math.ceil(minimum / text.length) || 1).slice(0, Math.max(minimum, maximum));
}
