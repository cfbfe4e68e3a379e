/**
 * The step `filter`: removes records that the reader may not see from an answer that names accounts. It cuts the answer's
 * bytes, so that the rest stays as the upstream wrote it. A record without an account of the reader does not pass.
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

/** The outcome without the records that the request's sender may not see. */
export function withholdFrom(outcome: Outcome, operation: Operation, reach: Reach): Outcome {
  if (reach.scope === 'every' || outcome.kind === 'refused') return outcome;
  // Snapshots name no accounts, and a stream withholds each event before it sends it.
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
 * The answer with only those records of its list that name a visible account and no other account. They keep their bytes
 * and their order. Undefined when there is no such list, or when the rest of the answer names another account.
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

/** The list at a JSON pointer, brackets included. Undefined when it is no list, or a key on the path is not unique. */
function listAt(body: Uint8Array, pointer: string): Uint8Array | undefined {
  let part: Uint8Array | undefined = body.subarray(startOf(body));
  for (const step of pointer.split('/').slice(1))
    part = part && onlyMember(part, step.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (part?.[0] !== openBracket) return undefined;
  return part.subarray(0, part.lastIndexOf(closeBracket) + 1);
}

/** The value of a member; undefined when the object has none or several of that name. */
function onlyMember(object: Uint8Array, name: string): Uint8Array | undefined {
  let count = 0;
  everyMember(object, ({ depth, start }) => {
    if (depth === 1 && textAt(object, start) === name) count++;
  });
  return count === 1 ? membersOf(object, [name])?.get(name) : undefined;
}

/** Whether a record names a visible account and no other. */
function isVisible(record: Uint8Array, by: string, maySee: MaySee): boolean {
  let isAttributed = false;
  const seesAll = everyAccount(record, by, (account, isOfRecord) => {
    isAttributed ||= isOfRecord && account !== '';
    return account === '' || maySee(account);
  });
  return record[0] === openBrace && isAttributed && seesAll;
}

/** Whether the JSON names only visible accounts, or none. */
const namesOnly = (json: Uint8Array, maySee: MaySee, by = 'account_id'): boolean =>
  everyAccount(json, by, (account) => account === '' || maySee(account));

/** Members that name an account: `account_id` as in the interface, or `accountId` as other servers write it. */
const accountName = /^account_?id$/i;

/** Whether `passes` accepts each account in the JSON. `null` counts as an empty account; any other non-text fails. */
function everyAccount(
  json: Uint8Array,
  by: string,
  passes: (account: string, isOfRecord: boolean) => boolean,
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
