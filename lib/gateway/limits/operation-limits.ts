/**
 * The limits that a request counts against: the catalogue's, the endpoint's own, and narrower ones that a deployer
 * configures. The caches' quotas for callers and their pace of refreshes follow from them.
 */

import { defaultSnapshotOptions, type SnapshotOptions } from '../../cache/snapshots/ports.ts';
import type { Group } from '../../catalogue/groups.ts';
import {
  choicesFrom,
  endpointCounterOf,
  endpointLimitsOf,
  figuresFault,
  type LimitFigures,
  type LimitName,
  limits,
  type UpstreamLimits,
} from '../../catalogue/limits.ts';
import type { Operation } from '../../catalogue/operation.ts';
import { type Limit, windowOf } from '../../limiter/index.ts';

export interface OperationLimit extends LimitFigures {
  /** Operation ids and groups that count against this limit. */
  readonly for: readonly (Group | string)[];
  /** The catalogue's limit that these operations count against, if there is one. */
  readonly within?: LimitName;
}

/**
 * Limit for callers' requests to the instruments endpoints: three quarters of the whole. The rest is for the directory of
 * symbols, thirteen pages a day, which could otherwise never be read while callers request more than the limit.
 */
const callersLimit = 'instruments-callers';
const callersPart = 0.75;

/** The deployer's limits by name. */
export type OperationLimits = Readonly<Record<string, OperationLimit>>;

/** The configuration that decides which limits an operation counts against. */
export interface LimitRules {
  readonly operationLimits: OperationLimits;
  /** Default `interface`. */
  readonly upstreamLimits?: UpstreamLimits;
}

export interface EndpointsOptions {
  readonly upstreamLimits?: UpstreamLimits | undefined;
  /** The operations whose endpoints get a counter; the limiter must not be asked about others. */
  readonly operations: readonly Operation[];
}

/**
 * The limits of a limiter: the catalogue's, the callers' part of them, the deployer's own, and one for each endpoint. The
 * same share applies to each.
 *
 * @example
 * const upstreamLimits = 'published';
 * const limits = limiterLimits({}, 0.5, { upstreamLimits, operations });
 * const limiter = createLimiter({ store, limits, bucket: 'production' });
 */
export function limiterLimits(
  operationLimits: OperationLimits = {},
  share = 1,
  { upstreamLimits, operations }: EndpointsOptions = { operations: [] },
): Readonly<Record<string, Limit>> {
  const wide = wideLimits(upstreamLimits);
  const { requests, perSeconds } = wide.instruments;
  const all: Record<string, Limit> = {
    ...wide,
    [callersLimit]: { requests: Math.ceil(requests * callersPart), perSeconds, within: 'instruments' },
    ...operationLimits,
  };
  for (const operation of operations) {
    const counter = endpointCounterOf(operation, upstreamLimits);
    const within = operation.limit ?? configuredFor(operation, operationLimits)[0];
    if (counter) all[counter.name] = { ...counter, ...(within !== undefined && { within }) };
  }
  return Object.fromEntries(
    Object.entries(all).map(([name, { requests, perSeconds, within }]) => [
      name,
      { requests, perSeconds, share, ...(within !== undefined && { within }) },
    ]),
  );
}

/**
 * The limits of a tighter choice, which no deployer has checked: each leaves at least one request, however small the share.
 *
 * @example
 * const limits = tighterLimiterLimits({}, 0.3, { upstreamLimits: 'published', operations }); // 1 order query in 2 s
 */
export const tighterLimiterLimits = (...given: Parameters<typeof limiterLimits>) =>
  Object.fromEntries(
    Object.entries(limiterLimits(...given)).map(([name, limit]) => [
      name,
      { ...limit, share: Math.max(limit.share ?? 1, 1 / limit.requests) },
    ]),
  );

/** The catalogue's limits under a choice, which may have figures for instruments: their endpoints share one counter. */
const wideLimits = (choice: UpstreamLimits | undefined): Readonly<Record<LimitName, LimitFigures>> => ({
  ...limits,
  instruments: endpointLimitsOf(choice).instruments ?? limits.instruments,
});

/** Names of the deployer's limits for an operation. */
const configuredFor = (operation: Operation, operationLimits: OperationLimits) =>
  Object.keys(operationLimits).filter((name) => isFor(operationLimits[name]!, operation));

/** The name of the first limit that could never grant a permit, if there is one. */
export function nothingLeftOf(all: Readonly<Record<string, Limit>>, reserve = 0): string | undefined {
  return Object.keys(all).find((name) => {
    try {
      windowOf(all[name]!, {}, reserve);
      return false;
    } catch {
      return true;
    }
  });
}

/**
 * Names of the limits that an operation counts against, the widest first; undefined when there are none. A stream counts
 * as the operation that it follows.
 *
 * @param isCallers false for the gateway's own request
 */
export function limitsOf(
  operation: Operation,
  { operationLimits, upstreamLimits }: LimitRules,
  isCallers = true,
): readonly [string, ...string[]] | undefined {
  const counted = operation.follows ?? operation;
  const { limit } = counted;
  const endpoint = endpointCounterOf(counted, upstreamLimits);
  const [outer, ...inner] = [
    ...(limit ? [limit] : []),
    ...(isCallers && limit === 'instruments' ? [callersLimit] : []),
    ...configuredFor(counted, operationLimits),
    ...(endpoint ? [endpoint.name] : []),
  ];
  return outer === undefined ? undefined : [outer, ...inner];
}

/** The upstream's counters of an operation's requests under a choice, the widest first. */
export function countersOf(
  operation: Operation,
  choice: UpstreamLimits | undefined,
): readonly (LimitFigures & { readonly name: string })[] {
  const { limit } = operation;
  const endpoint = endpointCounterOf(operation, choice);
  return [...(limit ? [{ ...wideLimits(choice)[limit], name: limit }] : []), ...(endpoint ? [endpoint] : [])];
}

/** Whether any of the operations counts against a limit, under the given choice or a tighter one. */
export const mayCount = (
  operations: readonly Operation[],
  { operationLimits, upstreamLimits }: LimitRules,
): boolean =>
  choicesFrom(upstreamLimits).some((choice) =>
    operations.some((operation) => limitsOf(operation, { operationLimits, upstreamLimits: choice })),
  );

/** Whether a limit applies to an operation or to the current form of a legacy one, whose clients must count, too. */
export const isFor = (
  { for: named }: Pick<OperationLimit, 'for'>,
  { id, group, legacyOf }: Pick<Operation, 'id' | 'group' | 'legacyOf'>,
): boolean => [id, group, legacyOf].some((one) => one !== undefined && named.includes(one));

/** Pattern for the names of a deployer's limits. */
export const limitName = /^[a-z][a-z0-9-]{0,31}$/;

/**
 * @param given unchecked limits of the deployer
 * @param operations the operations that the gateway offers or requests; only these are checked
 * @param upstreamLimits the choice of limits, which may give endpoints limits of their own
 * @returns the fault in words, or undefined
 *
 * @example
 * const bars = { for: ['listStockBars'], requests: 60, perSeconds: 60, within: 'market-data' };
 * operationLimitsFault({ bars }, operations); // undefined
 */
export function operationLimitsFault(
  given: unknown,
  operations: readonly Operation[],
  upstreamLimits: UpstreamLimits = 'interface',
): string | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return 'not an object of limits';
  for (const [name, limit] of Object.entries(given as Record<string, Partial<OperationLimit> | null>)) {
    if (!limitName.test(name))
      return 'a limit’s name has 1 to 32 lower-case letters, digits and -, beginning with a letter';
    if (Object.hasOwn(limits, name)) return `${name} is the upstream’s own limit`;
    if (name === callersLimit) return `${name} is the callers’ part of a limit of the upstream`;
    const fault = figuresFault(limit);
    if (fault) return `${name} ${fault}`;
    const { for: named, within } = limit as Partial<OperationLimit>;
    if (!Array.isArray(named) || named.length === 0 || named.some((one) => typeof one !== 'string'))
      return `${name} needs a list of operations and groups that it is for`;
    if (within !== undefined && !Object.hasOwn(limits, within)) return `${name} is within an unknown limit`;
  }
  const operationLimits = given as OperationLimits;
  for (const one of operations) {
    const operation = one.follows ?? one;
    const rules = { operationLimits, upstreamLimits };
    const fault = nestingFault(operation, operationLimits) ?? apartFault(operation, operations, rules);
    if (fault) return fault;
  }
  return undefined;
}

/** Refuses different limits for an operation and its older form: their one counter can be within only one limit. */
function apartFault(
  older: Operation,
  operations: readonly Operation[],
  { operationLimits, upstreamLimits }: LimitRules,
): string | undefined {
  const current = operations.find(({ id }) => id === older.legacyOf);
  if (!current || older.limit || !endpointCounterOf(older, upstreamLimits)) return undefined;
  const [one] = configuredFor(current, operationLimits);
  const [other] = configuredFor(older, operationLimits);
  if (one === other) return undefined;
  return `${one ?? other} must be for ${current.id} and its older form ${older.id}, which have one counter at the upstream`;
}

/** Refuses a limit outside the catalogue's limit of the operation: narrower limits must lie within the wide one. */
function nestingFault(operation: Operation, operationLimits: OperationLimits): string | undefined {
  const { id, limit } = operation;
  const names = configuredFor(operation, operationLimits);
  const odd = names.find((name) => operationLimits[name]!.within !== limit);
  if (odd !== undefined) return `${odd} is for ${id}, which is within ${limit ?? 'none'}`;
  if (!limit && names.length > 1) return `${names[0]} and ${names[1]} are both for ${id}`;
  return undefined;
}

/** Size of a limit as a part, at most 1, of the market-data limit, from which all quotas are computed. */
export const sizeOf = ({ requests, perSeconds }: LimitFigures) =>
  Math.min(1, (60 * requests) / perSeconds / limits['market-data'].requests);

/** Limits that callers have quotas for, the narrowest first. */
export function quotaLimitsOf(
  operation: Operation,
  { upstreamLimits }: Pick<LimitRules, 'upstreamLimits'>,
): readonly { readonly name?: string; readonly size: number }[] {
  const named = countersOf(operation, upstreamLimits).filter(({ name }) => name !== 'market-data');
  return [
    ...named.map((counter) => ({ name: counter.name, size: sizeOf(counter) })),
    ...(operation.limit === 'instruments' ? [] : [{ size: 1 }]),
  ];
}

type PaceOptions = Pick<SnapshotOptions, 'paceMs' | 'probesPerMinute' | 'forgivenPerMinute'>;

/** Factor that makes the pace of refreshes a little shorter than the interval at which the limiter grants permits. */
const paceFactor = 0.995;

/** Options of the snapshot cache under an endpoint's own limit: refreshes as often as it allows, probes in proportion. */
export function snapshotPaceOf(
  operation: Operation,
  { upstreamLimits }: Pick<LimitRules, 'upstreamLimits'>,
): Partial<PaceOptions> {
  const endpoint = endpointCounterOf(operation, upstreamLimits);
  if (!endpoint) return {};
  const usual: PaceOptions = defaultSnapshotOptions;
  const { stepMs } = windowOf({ ...endpoint, ...(operation.limit && { within: operation.limit }) });
  const paceMs = Math.floor(stepMs * paceFactor);
  if (paceMs <= usual.paceMs) return {};
  const scaled = (perMinute: number) => Math.max(1, Math.round((perMinute * usual.paceMs) / paceMs));
  return {
    paceMs,
    probesPerMinute: scaled(usual.probesPerMinute),
    forgivenPerMinute: scaled(usual.forgivenPerMinute),
  };
}
