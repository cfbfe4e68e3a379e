/** Reads replies that arrive at a rule's target or in the function's response. */

import * as v from 'valibot';
import { parseJson } from '../kernel/parse-json.ts';
import { eventNames } from './names.ts';
import * as schemas from './schemas.ts';
import type { Reply } from './types.ts';

/** Accepts any content of a record, because the upstream wrote it: a reply is never refused for it. */
const records = v.array(v.looseObject({ symbol: v.string() }));

const schemaOf = {
  [eventNames.quotes.completed]: v.looseObject({ ...schemas.quoteLookupCompleted.entries, quotes: records }),
  [eventNames.quotes.failed]: schemas.quoteLookupFailed,
  [eventNames.read.completed]: schemas.readCompleted,
  [eventNames.read.failed]: schemas.readFailed,
} as const;

/**
 * Reads one reply.
 *
 * @param input the event with its envelope, or the text of one
 * @returns undefined for an input that is no reply
 * @example
 * const reply = parseReply(event);
 * if (reply?.detailType === 'QuoteLookupCompleted') console.log(reply.detail.quotes);
 */
export function parseReply(input: unknown): Reply | undefined {
  const event = typeof input === 'string' ? parseJson(input) : input;
  if (typeof event !== 'object' || event === null) return undefined;
  const { 'detail-type': detailType, detail } = event as Readonly<Record<string, unknown>>;
  if (typeof detailType !== 'string' || !Object.hasOwn(schemaOf, detailType)) return undefined;
  const type = detailType as Reply['detailType'];
  return v.safeParse(schemaOf[type], detail).success ? ({ detailType: type, detail } as Reply) : undefined;
}

/**
 * Joins the parts of one reply, in any order and with duplicates; undefined while a part is missing. All parts must
 * belong to one request.
 *
 * @example
 * parts.push(reply);
 * const whole = joinParts(parts);
 * if (whole) handle(whole);
 */
export function joinParts(replies: readonly Reply[]): Reply | undefined {
  const [first] = replies;
  if (!first) return undefined;
  if (first.detailType === 'QuoteLookupFailed' || first.detailType === 'ReadFailed') return first;
  const byPart = new Map(
    replies.flatMap((reply) => ('part' in reply.detail ? [[reply.detail.part, reply] as const] : [])),
  );
  const { parts } = first.detail;
  const all = Array.from({ length: parts }, (_, index) => byPart.get(index + 1));
  if (all.some((one) => one?.detailType !== first.detailType)) return undefined;
  const whole = { part: 1, parts: 1 };
  if (first.detailType === 'QuoteLookupCompleted') {
    const quotes = all.flatMap((one) => (one?.detailType === first.detailType ? one.detail.quotes : []));
    return { ...first, detail: { ...first.detail, ...whole, quotes } };
  }
  if (parts === 1) return first;
  const texts = all.map((one) => (one?.detailType === 'ReadCompleted' ? (one.detail.text ?? '') : ''));
  const { text: _, ...detail } = first.detail;
  return { ...first, detail: { ...detail, ...whole, answer: parseJson(texts.join('')) } };
}
