/**
 * Step filter: of an answer that names accounts, what its reader may see. It is cut out of the answer's bytes, so that
 * what passes is as the upstream wrote it; what cannot be attributed to an account of the reader does not pass.
 */

import { joinRecords } from '../cache/snapshots/records.ts';
import type { AccountPlaces, Operation } from '../catalogue/operation.ts';
import {
  closeBracket,
  elementsOf,
  everyMember,
  mayHaveLength,
  membersOf,
  openBrace,
  openBracket,
  startOf,
  textAt,
} from '../kernel/json-scan.ts';
import { type Outcome, refused } from './outcome.ts';
import { isReached, type Reach } from './reach.ts';

type MaySee = (account: string) => boolean;

/** The outcome as the sender of the request may have it. */
export function withholdFrom(outcome: Outcome, operation: Operation, reach: Reach): Outcome {
  if (reach.scope === 'every' || outcome.kind === 'refused') return outcome;
  // What comes by itself is withheld before it is told.
  if (outcome.kind === 'snapshots' || outcome.kind === 'stream') return outcome;
  const maySee: MaySee = (account) => isReached(reach, account);
  const { accounts, sideEffect } = operation;
  const { body } = outcome;
  const visible = accounts?.records
    ? withholdRecords(body, accounts.records, maySee)
    : namesOnly(body, maySee) && body;
  if (visible) return visible === body ? outcome : { ...outcome, body: visible };
  return refused(
    sideEffect
      ? { code: 'outcome_unknown', findOut: sideEffect.findOut, detail: `The request was sent. ${foreign}` }
      : { code: 'upstream_broken_answer', detail: foreign },
  );
}

const foreign = 'The upstream’s answer names an account that the caller may not see, so it is withheld.';

/**
 * The answer with those records of its list that name an account that may be seen, and no other account. Each keeps its
 * bytes, and all their order. Undefined when there is no such list, or when another account is named beside it.
 *
 * @param body JSON
 * @example
 * withholdRecords(bytesOf('[{"id":"A"},{"id":"B"}]'), { list: '', by: 'id' }, (id) => id === 'B'); // [{"id":"B"}]
 */
export function withholdRecords(
  body: Uint8Array,
  { list: pointer, by }: NonNullable<AccountPlaces['records']>,
  maySee: MaySee,
): Uint8Array | undefined {
  const list = listAt(body, pointer);
  if (!list) return undefined;
  const kept = joinRecords([...elementsOf(list)].filter((record) => isVisible(record, by, maySee)));
  const start = list.byteOffset - body.byteOffset;
  const visible = new Uint8Array(body.length - list.length + kept.length);
  visible.set(body.subarray(0, start));
  visible.set(kept, start);
  visible.set(body.subarray(start + list.length), start + kept.length);
  return namesOnly(visible, maySee, by) ? visible : undefined;
}

/** From the list's bracket to its other one. Undefined when something else stands there, or the way there forks. */
function listAt(body: Uint8Array, pointer: string): Uint8Array | undefined {
  let part: Uint8Array | undefined = body.subarray(startOf(body));
  for (const step of pointer.split('/').slice(1))
    part = part && onlyMember(part, step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (part?.[0] !== openBracket) return undefined;
  return part.subarray(0, part.lastIndexOf(closeBracket) + 1);
}

/** The value of a member that an object has once. */
function onlyMember(object: Uint8Array, name: string): Uint8Array | undefined {
  let count = 0;
  everyMember(object, ({ depth, start }) => {
    if (depth === 1 && textAt(object, start) === name) count++;
  });
  return count === 1 ? membersOf(object, [name])?.get(name) : undefined;
}

/** Whether a record names an account that may be seen, and no other. */
function isVisible(record: Uint8Array, by: string, maySee: MaySee): boolean {
  let isAttributed = false;
  const seesAll = everyAccount(record, by, (account, isOwn) => {
    isAttributed ||= isOwn && account !== '';
    return account === '' || maySee(account);
  });
  return record[0] === openBrace && isAttributed && seesAll;
}

/** Whether no member of the JSON names an account that may not be seen. */
const namesOnly = (json: Uint8Array, maySee: MaySee, by = 'account_id'): boolean =>
  everyAccount(json, by, (account) => account === '' || maySee(account));

/** As the interface writes the name, and as other servers of its kind do. */
const accountName = /^account_?id$/i;

/** Whether each account at a member of its kind passes; `null` counts as an empty one, and what is no text does not. */
function everyAccount(
  json: Uint8Array,
  by: string,
  passes: (account: string, isOwn: boolean) => boolean,
): boolean {
  const lengths = [by.length, 'account_id'.length, 'accountId'.length];
  let all = true;
  everyMember(json, (member) => {
    if (!all || !mayHaveLength(json, member, lengths)) return;
    const name = textAt(json, member.start) ?? '';
    if (name !== by && !accountName.test(name)) return;
    const account = json[member.value] === firstOfNull ? '' : textAt(json, member.value);
    all = account !== undefined && passes(account, member.depth === 1 && name === by);
  });
  return all;
}

const firstOfNull = 'n'.charCodeAt(0);
