/** Groups the audit's lines into requests, and writes each as one JSON line that shows who ordered what. */

import type { AuditLine } from './audit-line.ts';

/** One request for one order, or for one change of an order. */
export interface Ordered {
  readonly account_id?: string;
  readonly client_order_id?: string;
  /** The operation's id in the catalogue. */
  readonly operation?: string;
  /** Another program placed this order; it is known because a request replaced it. */
  readonly placed_elsewhere?: true;
  /** The keyed names that the gateway's log has. */
  readonly user?: string;
  readonly app?: string;
  /** The directory's name for the user. */
  readonly who?: string;
  /** State after the newest line. */
  readonly state: AuditLine['after'];
  /** How the state is known. */
  readonly evidence?: string;
  /** Operator who decided the outcome, and the reason. */
  readonly decided_by?: string;
  readonly reason?: string;
  /** An operator took the order out of the counters of limits. */
  readonly ended?: true;
  readonly code?: string;
  readonly upstream_code?: string;
  readonly begun_at?: string;
  /** When the outcome became known; absent while it is unknown. */
  readonly known_at?: string;
  /** Milliseconds from `begun_at` to `known_at`. */
  readonly took_ms?: number;
  readonly request_id?: string;
  readonly entry: string;
  readonly attempt: string;
  readonly changes: readonly OrderedChange[];
  /** JSON, byte for byte. */
  readonly asked?: string;
  /** The upstream's JSON, byte for byte. */
  readonly answer?: string;
}

/** A line of the audit: the entry's states before and after, when, and the evidence. */
interface OrderedChange {
  readonly at: string;
  readonly before?: AuditLine['after'];
  readonly after: AuditLine['after'];
  readonly evidence?: string;
}

interface OrderedFilter {
  readonly account?: string;
  readonly clientOrderId?: string;
  /** Selects by keyed name, which is undefined where no user is known. */
  readonly user?: (name: string | undefined) => boolean;
  /** Selects only requests whose outcome is unknown. */
  readonly unsettled?: boolean;
}

interface WhoOrderedWhat {
  /** Requests that the filter selects, in the order of their first lines. */
  readonly ordered: readonly Ordered[];
  /** Requests of which only the states can be read, because their records were sealed with another identity key. */
  readonly unreadable: number;
}

/**
 * @param nameOf returns the directory's name for a user's keyed name
 *
 * @example
 * const { ordered } = await whoOrderedWhat(store.read(since, Date.now()), { account: '1234567' });
 */
export async function whoOrderedWhat(
  lines: AsyncIterable<AuditLine>,
  filter: OrderedFilter = {},
  nameOf: (user: string) => string | undefined = () => undefined,
): Promise<WhoOrderedWhat> {
  const requests = new Map<string, AuditLine[]>();
  for await (const line of lines) {
    const id = `${line.entry} ${line.attempt}`;
    requests.set(id, [...(requests.get(id) ?? []), line]);
  }
  const all = [...requests.values()].map((changes) => orderedOf(changes, nameOf));
  return {
    ordered: all.filter((one) => isTaken(one, filter)),
    unreadable: all.filter(({ operation }) => operation === undefined).length,
  };
}

function orderedOf(lines: readonly AuditLine[], nameOf: (user: string) => string | undefined): Ordered {
  const last = lines.at(-1) as AuditLine;
  const record = [...lines].reverse().find(({ record }) => record)?.record;
  const { operation, account_id, client_order_id, user, app, begun_at, request_id, asked, outcome } =
    record ?? {};
  const who = user === undefined ? undefined : nameOf(user);
  const isKnown = last.after === 'accepted' || last.after === 'refused';
  const known_at = isKnown ? outcome?.at : undefined;
  return present({
    account_id,
    client_order_id,
    operation,
    placed_elsewhere: record?.placed_elsewhere,
    user,
    who,
    app,
    state: last.after,
    evidence: outcome?.evidence,
    decided_by: outcome?.by,
    reason: outcome?.reason,
    ended: outcome?.ended,
    code: outcome?.code,
    upstream_code: outcome?.upstream_code,
    begun_at,
    known_at,
    took_ms: known_at && begun_at ? Date.parse(known_at) - Date.parse(begun_at) : undefined,
    request_id,
    entry: last.entry,
    attempt: last.attempt,
    changes: lines.map(({ at, before, after, record }) =>
      present({ at: new Date(at).toISOString(), before, after, evidence: record?.outcome?.evidence }),
    ),
    asked: asked || undefined,
    answer: outcome?.answer || undefined,
  });
}

type Present<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> };

const present = <T extends object>(members: T): Present<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<T>;

function isTaken(one: Ordered, { account, clientOrderId, user, unsettled = false }: OrderedFilter): boolean {
  if (unsettled && ['accepted', 'refused', 'removed'].includes(one.state)) return false;
  if (account !== undefined && one.account_id !== account) return false;
  if (clientOrderId !== undefined && one.client_order_id !== clientOrderId) return false;
  return !user || user(one.user);
}

/** The request as one line of JSON. `asked` and `answer` are inserted byte for byte, because parsing would round numbers. */
export function orderedLine({ asked, answer, ...rest }: Ordered): string {
  const parts = Object.entries({ asked, answer }).flatMap(([name, json]) =>
    json === undefined ? [] : [`,"${name}":${json}`],
  );
  return `${JSON.stringify(rest).slice(0, -1)}${parts.join('')}}`;
}
