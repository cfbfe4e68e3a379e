/** The state of an order, whether an event or a read showed it. */

import { compareDecimals, plainDecimal } from '../kernel/decimals.ts';

export interface OrderState {
  readonly account: string;
  readonly clientOrderId: string;
  /** The upstream's status, such as `PARTIAL_FILLED`. */
  readonly status: string;
  /** Filled quantity, a decimal without trailing zeros, so that `1.0` equals `1`; `0` where the upstream shows none. */
  readonly filled: string;
  /** The members that a replacement may change (quantity, prices …), as one text; absent where an event does not show them. */
  readonly terms?: string;
}

const finalStatuses: ReadonlySet<string> = new Set(['FILLED', 'CANCELLED', 'FAILED']);
const openStatuses: ReadonlySet<string> = new Set(['PENDING', 'SUBMITTED', 'PARTIAL_FILLED']);

type StatusAndFilled = Pick<OrderState, 'status' | 'filled'>;

/** Whether the status is final, which never changes. An unknown status counts as not final. */
export const isFinal = ({ status }: Pick<OrderState, 'status'>): boolean => finalStatuses.has(status);

/** One status for several of the upstream's: an event may say `SUBMITTED` for an order that is filled in part. */
export const phaseOf = ({ status, filled }: StatusAndFilled): string =>
  openStatuses.has(status) ? (filled === '0' ? 'SUBMITTED' : 'PARTIAL_FILLED') : status;

export const isMore = (a: string, b: string): boolean => compareDecimals(a, b) > 0;

/** The quantity as a plain decimal; `0` when it is missing or no number. */
export function quantityOf(text: string | undefined): string {
  try {
    return plainDecimal(text ?? '0');
  } catch {
    return '0';
  }
}

/** Members that a replacement may change. */
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

/** @param members the shown order's members as texts */
export function termsOf(members: ReadonlyMap<string, string>): string {
  const shown = termNames.flatMap((name) => {
    const value = members.get(name);
    return value === undefined ? [] : [[name, plainOf(value)] as const];
  });
  return JSON.stringify(Object.fromEntries(shown));
}

/** Whether a member that both have differs; a list may lack members that a look-up by id shows. */
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

/** Normalizes a text that may be a number, so that `1.10` equals `1.1`. */
function plainOf(text: string): string {
  try {
    return plainDecimal(text);
  } catch {
    return text;
  }
}
