/**
 * Where a streamed value and a fetched one meet in one record, the newer trade wins. Only members that change are
 * written over; everything else of the record stays byte for byte as the upstream sent it.
 */

import { compareDecimals } from '../../kernel/decimals.ts';
import { type WrittenMember, writtenMembers } from '../../kernel/json-members.ts';
import { closeBrace, quote, skipSpace, startOf } from '../../kernel/json-scan.ts';
import { encodeUtf8 } from '../../kernel/utf8.ts';
import type { View } from './view.ts';

/** Members that change together, and how two states of them compare. */
interface MemberGroup {
  /** The member that says when: milliseconds since the epoch. */
  readonly time: string;
  /** The member that only grows, for several trades in one millisecond. */
  readonly volume?: string;
  readonly members: readonly string[];
  /** The parameter without which a view lacks the group. */
  readonly flag?: string;
}

const extended = ['last_price', 'high', 'low', 'change', 'change_ratio', 'volume'];
const overnight = ['price', 'high', 'low', 'change', 'change_ratio', 'volume'];

/** The members of a snapshot record that a stream carries, by groups. */
export const memberGroups: readonly MemberGroup[] = [
  {
    time: 'last_trade_time',
    volume: 'volume',
    members: ['price', 'open', 'high', 'low', 'volume', 'change', 'change_ratio', 'pre_close'],
  },
  {
    time: 'extend_hour_last_trade_time',
    volume: 'extend_hour_volume',
    members: extended.map((name) => `extend_hour_${name}`),
    flag: 'extend_hour_required',
  },
  {
    time: 'ovn_last_trade_time',
    volume: 'ovn_volume',
    members: overnight.map((name) => `ovn_${name}`),
    flag: 'overnight_required',
  },
  { time: 'quote_time', members: ['bid', 'bid_size', 'ask', 'ask_size'] },
];

const times = new Set(memberGroups.map(({ time }) => time));
const streamedNames = [...memberGroups.flatMap(({ time, members }) => [time, ...members]), 'close'];

type MemberTexts = Readonly<Record<string, string>>;

/** The members of a record that a stream may carry, as texts; none for what is no object. */
export const streamedMembers = (record: Uint8Array): MemberTexts =>
  textsOf(writtenMembers(record, streamedNames));

/**
 * The record with those groups of members that are newer than its own.
 *
 * @param isLater they arrived after the record: of the same moment, they take the place of its own
 * @param fetchedAt when the record was fetched: the moment of each group whose members it has without their time, as the
 * upstream may send the book; default: long ago
 * @returns the record itself when nothing is newer
 */
export function withNewer(
  record: Uint8Array,
  members: MemberTexts,
  view: View,
  isLater: boolean,
  fetchedAt = 0,
): Uint8Array {
  const own = writtenMembers(record, streamedNames);
  if (!own) return record;
  const texts = textsOf(own);
  const changed = new Map<string, string>();
  for (const group of memberGroups) {
    if (group.flag !== undefined && !hasFlag(view, group.flag)) continue;
    const untimedAt = group.members.some((name) => own.has(name)) ? fetchedAt : 0;
    if (!isNewer(members, texts, group, isLater, untimedAt)) continue;
    for (const name of [group.time, ...group.members])
      if (members[name] !== undefined && members[name] !== texts[name]) changed.set(name, members[name]);
  }
  const price = changed.get('price');
  // The last trade's price under another name, as long as the market is open.
  if (price !== undefined && texts.close !== undefined && texts.close === texts.price)
    changed.set('close', price);
  return changed.size === 0 ? record : withMembers(record, own, changed);
}

const hasFlag = ({ query }: View, flag: string): boolean => query.some(([name]) => name === flag);

function isNewer(
  a: MemberTexts,
  b: MemberTexts,
  { time, volume }: MemberGroup,
  isLater: boolean,
  untimedAt: number,
): boolean {
  const [timeOfA, timeOfB] = [momentOf(a[time]), momentOf(b[time]) ?? untimedAt];
  if (!timeOfA) return false;
  if (timeOfA !== timeOfB) return timeOfA > timeOfB;
  if (volume === undefined || a[volume] === undefined || b[volume] === undefined) return isLater;
  const order = comparedLeniently(a[volume], b[volume]);
  return order > 0 || (order === 0 && isLater);
}

/** Compares decimals; a text that is no decimal is neither greater nor less. */
function comparedLeniently(a: string, b: string): number {
  try {
    return compareDecimals(a, b);
  } catch {
    return 0;
  }
}

const momentOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

/** Text and number alike, without quotation marks; null counts as absent. */
function textsOf(members: ReadonlyMap<string, WrittenMember> | undefined): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, { text: written }] of members ?? []) {
    if (written.startsWith('"')) texts[name] = JSON.parse(written) as string;
    else if (/^[-\d]/.test(written)) texts[name] = written;
  }
  return texts;
}

/** The record with other values of some members, in the form that each had; those that it lacks are added at its end. */
function withMembers(
  record: Uint8Array,
  own: ReadonlyMap<string, WrittenMember>,
  changed: ReadonlyMap<string, string>,
): Uint8Array {
  const pieces: Uint8Array[] = [];
  let at = 0;
  const replace = (start: number, end: number, text: string) => {
    pieces.push(record.subarray(at, start), encodeUtf8(text));
    at = end;
  };
  const placed = [...own].sort(([, a], [, b]) => a.start - b.start);
  for (const [name, { start, end }] of placed) {
    const text = changed.get(name);
    if (text !== undefined) replace(start, end, written(name, text, record[start]));
  }
  const added = [...changed]
    .filter(([name]) => !own.has(name))
    .map(([name, text]) => `"${name}":${written(name, text, undefined)}`)
    .join();
  if (added) {
    const start = startOf(record);
    const end = record.lastIndexOf(closeBrace);
    const isEmpty = skipSpace(record, start + 1) === end;
    replace(end, end, isEmpty ? added : `,${added}`);
  }
  pieces.push(record.subarray(at));
  return concatenated(pieces);
}

function concatenated(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let length = 0;
  for (const piece of pieces) {
    bytes.set(piece, length);
    length += piece.length;
  }
  return bytes;
}

/**
 * As the record writes the member. Where it has none of it, as snapshots do: times as numbers, decimals as texts.
 *
 * @param first the first byte of the record's own value
 */
function written(name: string, text: string, first: number | undefined): string {
  const isNumber = first === undefined || first === 0x6e ? times.has(name) : first !== quote;
  return isNumber ? text : JSON.stringify(text);
}
