/** Reads replies, as a rule's target has them or as the function gave them. */

import * as v from 'valibot';
import { eventNames } from './names.ts';
import * as schemas from './schemas.ts';
import type { Reply } from './types.ts';

/** What stands in a record is the upstream's affair: no reply is refused for it. */
const records = v.array(v.looseObject({ symbol: v.string() }));

const schemaOf = {
  [eventNames.quotes.completed]: v.looseObject({ ...schemas.quoteLookupCompleted.entries, quotes: records }),
  [eventNames.quotes.failed]: schemas.quoteLookupFailed,
  [eventNames.read.completed]: schemas.readCompleted,
  [eventNames.read.failed]: schemas.readFailed,
} as const;

/**
 * @param came the event with its envelope, or the text of one
 * @returns undefined for what is no reply
 */
export function parseReply(came: unknown): Reply | undefined {
  const event = typeof came === 'string' ? parsed(came) : came;
  if (typeof event !== 'object' || event === null) return undefined;
  const { 'detail-type': detailType, detail } = event as Readonly<Record<string, unknown>>;
  if (typeof detailType !== 'string' || !Object.hasOwn(schemaOf, detailType)) return undefined;
  const type = detailType as Reply['detailType'];
  return v.safeParse(schemaOf[type], detail).success ? ({ detailType: type, detail } as Reply) : undefined;
}

/**
 * The whole of a reply that came in parts, in whatever order, some perhaps twice; undefined while one is
 * missing. Parts of different requests are not to be mixed.
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
  return { ...first, detail: { ...detail, ...whole, answer: parsed(texts.join('')) } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
