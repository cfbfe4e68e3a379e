/** Follows the pages of an answer, as the entry's `paging` describes them. */

import type { Operation, Paging } from '../catalogue/operation.ts';
import { memberOf } from './answer.ts';
import { type CallTarget, call } from './call.ts';
import { BrokenAnswerError } from './errors.ts';
import type { CallOptions } from './types.ts';

interface Page {
  readonly data: unknown;
  /** Records of this page, without those that the page before had, too. */
  readonly items: readonly unknown[];
}

/** Requests a page when the caller's loop needs it: a loop that ends early sends nothing more. */
export async function* followPages(
  target: CallTarget,
  paging: Paging,
  input: unknown,
  options?: CallOptions,
): AsyncGenerator<Page, void, undefined> {
  const { operation } = target;
  const seen = new Set<string>();
  const from = cursorIn(input, paging.parameter);
  if (from !== undefined) seen.add(from);
  let pageInput = input;
  /** Cursor of the page; set from the second page on. */
  let last: string | undefined;
  for (;;) {
    const { data, text } = await call(target, pageInput, options);
    const records = recordsOf(operation, paging, data, text);
    const items = 'ofLastItem' in paging.next ? itemsAfter(records, paging.next.ofLastItem, last) : records;
    // If the last record is the cursor, no member marks the end: a page without new records is the end.
    if ('ofLastItem' in paging.next && last !== undefined && items.length === 0) return;
    yield { data, items };
    const next =
      'member' in paging.next
        ? cursorIn(data, paging.next.member)
        : nextOf(operation, records, paging.next.ofLastItem, text);
    if (next === undefined) return;
    if (seen.has(next)) {
      // The first page may consist of the one record that the caller named as the start.
      if ('ofLastItem' in paging.next && last === undefined) return;
      throw new BrokenAnswerError(
        operation.id,
        'the cursor leads back to a page that was there already',
        text,
      );
    }
    seen.add(next);
    last = next;
    pageInput = { ...(pageInput as object | undefined), [paging.parameter]: next };
  }
}

/**
 * Returns the records after the one that the cursor names. No source states whether the next page repeats that record.
 * All records up to it were on the page before, even if the whole page is repeated.
 */
function itemsAfter(records: readonly unknown[], key: string, last: string | undefined): readonly unknown[] {
  if (last === undefined) return records;
  let start = records.length;
  while (start > 0 && cursorIn(records[start - 1], key) !== last) start--;
  return records.slice(start);
}

function nextOf(operation: Operation, records: readonly unknown[], key: string, text: string) {
  if (records.length === 0) return undefined;
  const next = cursorIn(records.at(-1), key);
  if (next === undefined)
    throw new BrokenAnswerError(operation.id, `the last record has no ${key} to go on from`, text);
  return next;
}

function recordsOf({ id }: Operation, paging: Paging, data: unknown, text: string): readonly unknown[] {
  const records = paging.items === undefined ? data : memberOf(data, paging.items);
  if (records == null && paging.items !== undefined) return [];
  if (!Array.isArray(records))
    throw new BrokenAnswerError(id, `${paging.items ?? 'the answer'} is no list of records`, text);
  return records;
}

/** An empty cursor counts as absent. */
function cursorIn(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name);
  return typeof member === 'number' || (typeof member === 'string' && member) ? `${member}` : undefined;
}
