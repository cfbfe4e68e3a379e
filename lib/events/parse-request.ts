/**
 * Parses a request: the bare JSON, or the envelope of an event bus around it. The result for a refused request names its
 * faults, and its id if that is valid.
 */

import * as v from 'valibot';
import { type FaultWords, faultOf, type PlaceFault, shorten } from '../catalogue/faults.ts';
import { getStockSnapshots } from '../catalogue/market-data/snapshots.ts';
import type { Operation } from '../catalogue/operation.ts';
import { bodyFaults, bodyLengthFault, checkQuery } from '../catalogue/validation.ts';
import { jsonFault } from '../kernel/json-fault.ts';
import { parseJson } from '../kernel/parse-json.ts';
import { eventNames, type LookupKind, reservedSources } from './names.ts';
import * as schemas from './schemas.ts';

/** Members that requests of every kind have. */
interface CommonMembers {
  readonly requestId: string;
  readonly maxAgeSeconds?: number;
  /** In milliseconds since the epoch. */
  readonly deadlineMs?: number;
  readonly deadlineSeconds?: number;
  /** Canonical text of the request: equal for equal requests, in any spelling and with any deadline. */
  readonly content: string;
  /** The checked query; for quotes it has no symbols. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Name of the requester on the bus, from the envelope; absent for a bare request. */
  readonly source?: string;
  /** Whether the event is a replay from an archive: a requester that lost the reply then gets it again. */
  readonly isReplay: boolean;
}

export interface QuoteLookup extends CommonMembers {
  readonly kind: 'quotes';
  /** Symbols without duplicates, in the order of the request. */
  readonly symbols: readonly string[];
  readonly category: string;
}

export interface Read extends CommonMembers {
  readonly kind: 'read';
  readonly operation: Operation;
  /** JSON text; absent when the request has none. */
  readonly body?: string | undefined;
}

export type Lookup = QuoteLookup | Read;

export type LookupFault = PlaceFault;

export type ParsedRequest =
  | { readonly ok: true; readonly lookup: Lookup }
  | {
      readonly ok: false;
      /** All faults in one line, for people. */
      readonly reason: string;
      readonly faults: readonly LookupFault[];
      readonly kind: LookupKind;
      /** Present if it is valid, so that a reply can reach the requester. */
      readonly requestId?: string;
      readonly source?: string | undefined;
    };

/**
 * Parses one request.
 *
 * @param input an object, or the text of a queue's message
 * @param operations operations that may be read; any other is refused as unknown
 * @example
 * const parsed = parseRequest(message.body, exposedOperations(operations, openByDefault));
 * if (!parsed.ok) console.error(parsed.reason);
 */
export function parseRequest(input: unknown, operations: readonly Operation[]): ParsedRequest {
  const json = typeof input === 'string' ? parseJson(input) : input;
  if (!isObject(json)) {
    const fault = typeof input === 'string' && json === undefined ? jsonFault(input) : undefined;
    const detail = fault === undefined ? 'not a JSON object' : `not a JSON object: ${fault}`;
    return refusal('quotes', undefined, [{ name: '/', detail }]);
  }
  if (!('detail-type' in json))
    return parseDetail(json, 'operation' in json ? 'read' : 'quotes', operations, { isReplay: false });

  const { 'detail-type': type, source: named } = json;
  const source = typeof named === 'string' && named !== '' ? named : undefined;
  // Refused without the request's id: a reply with it could reach another requester.
  if (source !== undefined && !isSource(source))
    return refusal('quotes', undefined, [
      { name: 'source', detail: 'no source of a request', received: shown(source) },
    ]);
  const envelope = { isReplay: 'replay-name' in json, ...(source !== undefined && { source }) };
  const kind = (Object.keys(eventNames) as LookupKind[]).find((one) => eventNames[one].requested === type);
  if (!kind)
    return refusal(
      'quotes',
      json.detail,
      [{ name: 'detail-type', detail: 'no request', allowed: requestTypes, received: shown(type) }],
      envelope,
    );
  return parseDetail(json.detail, kind, operations, envelope);
}

const requestTypes = `one of ${Object.values(eventNames)
  .map(({ requested }) => requested)
  .join(', ')}`;

function parseDetail(
  detail: unknown,
  kind: LookupKind,
  operations: readonly Operation[],
  envelope: RequestEnvelope,
): ParsedRequest {
  // The checks below recurse into the detail, one stack frame for each level.
  const parsed = isDeeperThan(detail, maxLevels)
    ? [{ name: '/', detail: `nested deeper than ${maxLevels} levels` }]
    : kind === 'quotes'
      ? parseQuotes(detail)
      : parseRead(detail, operations);
  return 'kind' in parsed
    ? { ok: true, lookup: { ...parsed, ...envelope } }
    : refusal(kind, detail, parsed, envelope);
}

type RequestEnvelope = Pick<CommonMembers, 'source' | 'isReplay'>;
type OrFaults<L> = Omit<L, keyof RequestEnvelope> | readonly LookupFault[];

/** EventBridge accepts no longer source, and the receiver would refuse a reply with half of a surrogate pair. */
const isSource = (text: string) =>
  text.length <= 256 && !/\p{Cs}/u.test(text) && !reservedSources.includes(text);

function parseQuotes(detail: unknown): OrFaults<QuoteLookup> {
  const parsed = v.safeParse(schemas.quoteLookupRequested, detail);
  if (!parsed.success) return parsed.issues.map(memberFault);
  const { symbols: requested, category, ...rest } = parsed.output;
  const symbols = [...new Set(requested)];
  const flags = (['extend_hour_required', 'overnight_required'] as const).filter((flag) => rest[flag]);
  const query = [['category', category], ...flags.map((flag) => [flag, 'true'])] as [string, string][];
  const content = JSON.stringify(['quotes', symbols, query, rest.max_age_seconds ?? null]);
  return { kind: 'quotes', symbols, category, query, content, ...commonOf(rest) };
}

function parseRead(detail: unknown, operations: readonly Operation[]): OrFaults<Read> {
  const parsed = v.safeParse(schemas.readRequested, detail);
  if (!parsed.success) return parsed.issues.map(memberFault);
  const { operation: id, query: parameters = {}, body: members, ...rest } = parsed.output;
  const operation = operations.find((one) => one.id === id);
  if (!operation || operation.sideEffect) {
    const fault = operation
      ? 'it has a side effect, and only reads are made by event'
      : 'no such operation, or its group is not readable by event here';
    return [{ name: 'operation', detail: fault, received: shown(id) }];
  }
  const body = members && JSON.stringify(members);
  const lengthFault = bodyLengthFault(operation, body ? new TextEncoder().encode(body).length : 0);
  if (lengthFault) return [{ name: 'body', detail: lengthFault.detail }];
  const checked = checkQuery(
    operation,
    Object.entries(parameters).map(([name, value]) => [name, [value].flat().join(',')] as const),
  );
  const inBody =
    operation.body && body ? bodyFaults(operation.body, { text: body, value: JSON.parse(body) }) : [];
  const faults = [...checked.errors, ...inBody];
  if (faults.length > 0) return faults;
  const query = checked.pairs;
  const sorted = [...query].sort(byName);
  const content = JSON.stringify(['read', id, sorted, body ?? '', rest.max_age_seconds ?? null]);
  return { kind: 'read', operation, query, body, content, ...commonOf(rest) };
}

const byName = ([one]: readonly [string, string], [other]: readonly [string, string]) =>
  one < other ? -1 : 1;

type CommonDetail = Omit<v.InferOutput<typeof schemas.readRequested>, 'operation' | 'query' | 'body'>;

const commonOf = ({
  request_id,
  max_age_seconds: age,
  deadline,
  deadline_seconds: seconds,
}: CommonDetail) => ({
  requestId: request_id,
  ...(age !== undefined && { maxAgeSeconds: age }),
  ...(deadline !== undefined && { deadlineMs: Date.parse(deadline) }),
  ...(seconds !== undefined && { deadlineSeconds: seconds }),
});

function refusal(
  kind: LookupKind,
  detail: unknown,
  faults: readonly LookupFault[],
  { source }: Partial<RequestEnvelope> = {},
): ParsedRequest {
  const id = v.safeParse(schemas.requestId, isObject(detail) ? detail.request_id : undefined);
  const shownFaults = faults.slice(0, maxFaults).map(({ name, detail: what, allowed, received }) => ({
    name: shortened(name),
    detail: what,
    ...(allowed !== undefined && { allowed }),
    ...(received !== undefined && { received }),
  }));
  return {
    ok: false,
    kind,
    faults: shownFaults,
    reason: shownFaults.map(({ name, detail: what }) => `${name}: ${what}`).join('; '),
    ...(id.success && { requestId: id.output }),
    source,
  };
}

/** Limit of the faults in a reply: a hostile request could have thousands. */
const maxFaults = 20;

/** Names a fault in the event's own members, as the pattern of a rule names them: `symbols.0`. */
function memberFault(issue: v.BaseIssue<unknown>): LookupFault {
  const name = (issue.path ?? []).map(({ key }) => String(key)).join('.') || '/';
  const { received, ...fault } = faultOf(issue, faultWords);
  if (received === undefined) return { ...fault, name };
  if (issue.expected === 'never') return { name, detail: 'no member of this event' };
  return { ...fault, name, received: shown(received) };
}

const faultWords: FaultWords = {
  missing: 'required',
  notAllowed: 'not an allowed value',
  outOfBounds: 'not an allowed value',
};

/** Shows a received value. A list or an object is only named as such: it may have any size and depth. */
function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return shortened(String(value));
}

/** Shortens a text. Half of a surrogate pair, cut here or sent so, is replaced: a reply's receiver would refuse it. */
const shortened = (text: string) => shorten(text).replace(/\p{Cs}/gu, '\uFFFD');

/** Limit of nesting, far above any operation's body. */
const maxLevels = 64;

/** Checks level by level, so that no depth exhausts the stack. */
function isDeeperThan(value: unknown, maxDepth: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true;
    level = level.flatMap((one): unknown[] =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    );
  }
  return false;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Operation that serves lookups of quotes. */
export const quoteOperation: Operation = getStockSnapshots;
