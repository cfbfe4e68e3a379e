/** Reads and writes limits as an operator types them in a shell: `max_duplicative_orders=3/60`. */

import {
  areLimits,
  checkNames,
  formOf,
  type LimitChanges,
  limitNames,
  readLimitChanges,
} from '../../lib/guard-rails/limits.ts';
import { didYouMean } from '../nearest-name.ts';

const actionPrefix = 'actions.';

const formTexts = {
  string: 'a decimal, such as 50000.00',
  number: 'a whole number, such as 30',
  object: 'orders/seconds, such as 3/60',
  array: 'a list with commas, such as AAPL,MSFT, in place of the one before',
  picklist: 'equal, or none for one user',
} as const;

/** Lines of help: each form of a value, with the limits that have it. */
export const limitLines: readonly string[] = Object.entries(formTexts).map(
  ([form, words]) => `  ${words}:\n    ${limitNames.filter((name) => formOf(name) === form).join(', ')}`,
);

/** Names that `--set` accepts. */
export const settableNames: readonly string[] = [
  ...limitNames,
  ...checkNames.map((name) => `${actionPrefix}${name}`),
];

/**
 * @param given pairs of a name and its text; null removes the limit
 * @returns the change, or a sentence on what is wrong
 */
export function limitChanges(given: ReadonlyMap<string, string | null>): LimitChanges | string {
  const own: Record<string, unknown> = {};
  const actions: Record<string, unknown> = {};
  for (const [name, text] of given) {
    if (!settableNames.includes(name)) return `${name} is no limit.${didYouMean(name, settableNames)}`;
    const fault = text === null ? undefined : faultOf(name, text);
    if (fault) return `${name} takes ${fault}.`;
    if (name.startsWith(actionPrefix)) actions[name.slice(actionPrefix.length)] = text;
    else own[name] = text === null ? null : valueIn(name, text);
  }
  const read = readLimitChanges({ ...own, ...(Object.keys(actions).length > 0 && { actions }) });
  if (areLimits(read)) return read;
  const [{ name = '', detail = '' } = {}] = read;
  return `${name.replace(/\.(\d+|orders|seconds)$/, '')} ${detail}.`;
}

function faultOf(name: string, text: string): string | undefined {
  const form = formIn(name);
  if (form === 'object' && !/^\d{1,9}\/\d{1,9}$/.test(text))
    return 'orders/seconds, such as 3/60: three of the same within a minute';
  // An empty list would stop all trading, for which there is the verb stop.
  if (form === 'array' && namesIn(text).some((one) => one === ''))
    return 'names with commas between, such as AAPL,MSFT; stop ends all trading, --unset takes the limit away';
  return undefined;
}

function valueIn(name: string, text: string): unknown {
  const form = formIn(name);
  if (form === 'array') return namesIn(text);
  if (form === 'number') return /^\d{1,9}$/.test(text) ? Number(text) : text;
  if (form !== 'object') return text;
  const [orders, seconds] = text.split('/').map(Number);
  return { orders, seconds };
}

/** Form of a limit's value; undefined for a check's action. */
function formIn(name: string): keyof typeof formTexts | undefined {
  const limit = limitNames.find((one) => one === name);
  return limit && formOf(limit);
}

const namesIn = (text: string) => text.split(',').map((one) => one.trim());

/** Writes each limit as `--set` accepts it; null for a removed one. */
export function limitTexts({ actions = {}, ...own }: LimitChanges): ReadonlyMap<string, string | null> {
  return new Map([
    ...Object.entries(own).map(([name, value]) => [name, textOf(value)] as const),
    ...Object.entries(actions).map(([name, value]) => [`${actionPrefix}${name}`, value ?? null] as const),
  ]);
}

function textOf(value: LimitChanges[keyof LimitChanges]): string | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' && 'orders' in value ? `${value.orders}/${value.seconds}` : String(value);
}
