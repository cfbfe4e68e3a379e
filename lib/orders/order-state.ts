/** What is known of an order, wherever it was seen: in an event, or in a read. */

import { compareDecimals, plainDecimal } from '../kernel/decimals.ts';

export interface OrderState {
  readonly account: string;
  readonly clientOrderId: string;
  /** As the upstream names it, such as `PARTIAL_FILLED`. */
  readonly status: string;
  /** A decimal, without trailing zeros, so that `1.0` and `1` are one; `0` where the upstream says nothing. */
  readonly filled: string;
  /** What a replacement changes (quantity, prices …), as one text; absent where an event does not show it. */
  readonly terms?: string;
}

const finalStatuses: ReadonlySet<string> = new Set(['FILLED', 'CANCELLED', 'FAILED']);
const openStatuses: ReadonlySet<string> = new Set(['PENDING', 'SUBMITTED', 'PARTIAL_FILLED']);

type StatusAndFilled = Pick<OrderState, 'status' | 'filled'>;

/** A final status never changes. One that is not known may still. */
export const isFinal = ({ status }: Pick<OrderState, 'status'>): boolean => finalStatuses.has(status);

/** One name for what the upstream calls by several: an event may say `SUBMITTED` of an order that is filled in part. */
export const phaseOf = ({ status, filled }: StatusAndFilled): string =>
  openStatuses.has(status) ? (filled === '0' ? 'SUBMITTED' : 'PARTIAL_FILLED') : status;

export const isMore = (a: string, b: string): boolean => compareDecimals(a, b) > 0;

/** `0` for what is missing or no number. */
export function quantityOf(text: string | undefined): string {
  try {
    return plainDecimal(text ?? '0');
  } catch {
    return '0';
  }
}

/** What a replacement may change. */
const termNames = [
  'total_quantity',
  'total_cash_amount',
  'limit_price',
  'stop_price',
  'order_type',
  'time_in_force',
  'expire_date',
  'trailing_type',
  'trailing_stop_step',
  'target_vol_percent',
  'max_target_percent',
  'algo_start_time',
  'algo_end_time',
] as const;

/** The members of a shown order that `readOrderOf` reads. */
export const readOrderMembers: readonly string[] = [
  ...termNames,
  'client_order_id',
  'status',
  'filled_quantity',
];

/** @param members of a shown order, as texts */
export function termsOf(members: ReadonlyMap<string, string>): string {
  const shown = termNames.flatMap((name) => {
    const value = members.get(name);
    return value === undefined ? [] : [[name, plainOf(value)] as const];
  });
  return JSON.stringify(Object.fromEntries(shown));
}

/** Whether a member that both show differs: a list may leave out what the look-up by id has. */
export function termsDiffer(a: string, b: string): boolean {
  const other = JSON.parse(b) as Readonly<Record<string, string>>;
  return Object.entries(JSON.parse(a) as Readonly<Record<string, string>>).some(
    ([name, value]) => other[name] !== undefined && other[name] !== value,
  );
}

/** Whether `shown` has every member of `wanted`. */
export const showsEach = (wanted: string, shown: string): boolean => {
  const members = JSON.parse(shown) as Readonly<Record<string, string>>;
  return Object.keys(JSON.parse(wanted) as object).every((name) => Object.hasOwn(members, name));
};

/** Of a text that may be a number: `1.10` and `1.1` are one. */
function plainOf(text: string): string {
  try {
    return plainDecimal(text);
  } catch {
    return text;
  }
}
