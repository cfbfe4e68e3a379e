/** Fills in the defaults of a configuration; each wrong value is refused in a sentence that names the property. */

import * as v from 'valibot';
import { functionsOf, operationsIn } from '../../functions/rows.ts';
import { readsOf } from '../../functions/settings/lookup-settings.ts';
import {
  operations as catalogue,
  type Group,
  type Operation,
  openable,
  openByDefault,
} from '../../lib/catalogue/index.ts';
import { type EndpointsOptions, limitsOf } from '../../lib/gateway/limits/operation-limits.ts';
import { usualMode } from '../access-modes.ts';
import { defined } from '../defined.ts';
import { Mistakes } from '../mistakes.ts';
import { resolveAuth } from './auth-config.ts';
import { resolveCache } from './cache-config.ts';
import { ConfigError, type CountersignConfig, type OpenModes, type ResolvedConfig } from './config.ts';
import { config, type Parts } from './config-schema.ts';
import { sentencesOf } from './config-sentences.ts';
import { resolveDomain } from './domain-config.ts';
import { integrationTimeoutSeconds, resolveFunctions, withStreamsReserved } from './functions-config.ts';
import { type Drawing, resolveLimiter, resolveReserve } from './limiter-config.ts';
import { resolveLive, withReservedStreams } from './live-config.ts';
import { batchSeconds, resolveEvents } from './lookups-config.ts';
import { resolveMarketStream } from './market-stream-config.ts';
import { resolvePlan } from './plans-config.ts';
import { resolveTradeEvents } from './trade-events-config.ts';
import { resolveStopOnAlarms, resolveTrading } from './trading-config.ts';
import { resolveUpstream } from './upstream-config.ts';

/** What else can be wrong, once it is known how groups open. */
type FurtherChecks = (resolved: Pick<ResolvedConfig, 'access' | 'domain'>) => readonly string[];

/**
 * @param further checks whose sentences stand in the same error
 * @throws ConfigError with a line for each mistake. What depends on a part that is wrong is not checked
 */
export function resolveConfig(
  given: CountersignConfig,
  operations: readonly Operation[] = catalogue,
  further: FurtherChecks = () => [],
): ResolvedConfig {
  const mistakes = new Mistakes(ConfigError);
  const parsed = v.safeParse(config, given);
  for (const issue of parsed.issues ?? []) mistakes.add(...sentencesOf(config, issue));
  const wrong = new Set((parsed.issues ?? []).map(({ path }) => String(path?.[0]?.key)));
  if (typeof given !== 'object' || given === null) mistakes.throwAny();
  const resolver: Resolver = {
    mistakes,
    operations,
    parts: parsed.output as Parts,
    resolve(names, run) {
      if (names.some((name) => wrong.has(name))) return undefined;
      const before = mistakes.count;
      const result = mistakes.read<ReturnType<typeof run> | undefined>(run, undefined);
      return mistakes.count === before ? result : undefined;
    },
  };
  const resolved = resolveParts(resolver);
  const { access, domain } = resolved;
  if (access) mistakes.add(...further({ access, ...defined({ domain }) }));
  mistakes.throwAny();
  // Nothing is undefined that was not left out: what is wrong has been thrown.
  return resolved as ResolvedConfig;
}

interface Resolver {
  readonly mistakes: Mistakes;
  readonly operations: readonly Operation[];
  readonly parts: Parts;
  /** @returns undefined where one of the parts that it is made of is wrong, or where it finds a mistake */
  resolve<T>(names: readonly (keyof Parts)[], run: () => T): T | undefined;
}

/** Every part by itself; in one that is undefined, or that it depends on, is a mistake. */
function resolveParts({ resolve, mistakes, operations, parts }: Resolver) {
  const upstream = resolve(['upstream'], () => resolveUpstream(parts.upstream, operations, mistakes));
  resolve(['upstream', 'functions', 'events'], () => checkTimes(parts, mistakes));
  const access = resolve(['groups'], () => accessOf(parts.groups));
  const openGroups = access && (Object.keys(access) as Group[]);
  const events =
    openGroups &&
    resolve(['events'], () => parts.events && resolveEvents(parts.events, openGroups, mistakes));
  const live =
    access &&
    resolve(['live', 'cache'], () => parts.live && resolveLive(parts.live, parts, access, mistakes));
  const functions =
    openGroups &&
    resolve(['functions'], () =>
      withStreamsReserved(resolveFunctions(parts.functions, openGroups, operations, mistakes), live),
    );
  const endpoints = upstream && { operations, upstreamLimits: upstream.limits };
  const limiter = endpoints && resolve(['limiter'], () => resolveLimiter(parts.limiter, endpoints, mistakes));
  const knowsEvents = parts.events === undefined || events !== undefined;
  const reserved =
    limiter &&
    functions &&
    openGroups &&
    knowsEvents &&
    resolve(['events'], () =>
      resolveReserve(
        limiter,
        drawingOf(
          { limiter, functions, events, openGroups },
          { ...endpoints, operations: withReservedStreams(operations, live) },
        ),
        endpoints,
      ),
    );
  const domain = resolve(['domain'], () => parts.domain && resolveDomain(parts.domain, mistakes));
  const auth =
    access &&
    resolve(['auth', 'upstream', 'functions'], () =>
      resolveAuth(
        parts.auth,
        {
          access,
          allowLoopback: parts.upstream.allowLoopback,
          reservesNone: parts.functions.reservedConcurrency === 'none',
        },
        mistakes,
      ),
    );
  const listeners = access && resolveListeners({ resolve, mistakes, parts }, access);
  const stopOnAlarms =
    functions &&
    resolve(
      ['trading'],
      () =>
        parts.trading?.stopOnAlarms &&
        resolveStopOnAlarms(parts.trading.stopOnAlarms, functions.reservedConcurrency.orders === undefined),
    );
  checkTogether(parts, mistakes);
  return {
    ...parts,
    upstream,
    access,
    ...auth,
    limiter: reserved,
    domain,
    ...defined({ events, stopOnAlarms, live }),
    ...listeners,
    tradingLimits: resolve(['trading'], () => resolveTrading(parts.trading, mistakes)),
    orderMembers: parts.trading?.orderMembers ?? [],
    cache: resolve(['cache'], () => resolveCache(parts.cache)),
    functions,
    plans: resolve(['plans'], () => Object.entries({ default: {}, ...parts.plans }).map(resolvePlan)),
    origins: parts.cors?.origins,
  };
}

/** What listens to the upstream by itself. */
function resolveListeners(
  { resolve, mistakes, parts }: Pick<Resolver, 'resolve' | 'mistakes' | 'parts'>,
  access: OpenModes,
) {
  const tradeEvents = resolve(
    ['tradeEvents', 'upstream', 'functions'],
    () =>
      parts.tradeEvents &&
      resolveTradeEvents(parts.tradeEvents, {
        baseUrl: parts.upstream.baseUrl,
        allowLoopback: parts.upstream.allowLoopback,
        reservesNone: parts.functions.reservedConcurrency === 'none',
      }),
  );
  const marketStream = resolve(
    ['marketStream', 'upstream', 'cache'],
    () =>
      parts.marketStream &&
      resolveMarketStream(
        parts.marketStream,
        {
          cache: parts.cache,
          allowLoopback: parts.upstream.allowLoopback,
          hasMarketData: access['market-data'] !== undefined,
        },
        mistakes,
      ),
  );
  return defined({ tradeEvents, marketStream });
}

function checkTogether(parts: Parts, mistakes: Mistakes): void {
  const { alarmTopic, alarmEmail, alarms, canary, groups: modes, functions } = parts;
  if (alarmTopic !== undefined && alarmEmail !== undefined)
    mistakes.add('alarmEmail makes a topic of its own: take one of alarmEmail and alarmTopic.');
  if (canary && (modes?.['market-data'] ?? 'api-key') !== 'api-key')
    mistakes.add('canary needs groups.market-data open to API keys: it asks for a quote as a client does.');
  if (alarms === 'off' && functions?.rollout !== 'all-at-once' && functions !== undefined)
    mistakes.add('functions.rollout needs alarms: without them nothing brings the old version back.');
}

function checkTimes({ upstream, functions, events }: Parts, mistakes: Mistakes): void {
  const { timeoutSeconds } = upstream;
  // A read is sent once more after a refused signature; the function must outlive both attempts.
  if (2 * timeoutSeconds >= functions.timeoutSeconds)
    mistakes.add(
      `functions.timeoutSeconds must be more than twice upstream.timeoutSeconds (${timeoutSeconds}), because a read may be sent twice, and less than ${integrationTimeoutSeconds}.`,
    );
  else if (events && 2 * timeoutSeconds + batchSeconds > functions.timeoutSeconds)
    mistakes.add(
      `functions.timeoutSeconds must be at least twice upstream.timeoutSeconds (${timeoutSeconds}) and ${batchSeconds} more while events are open, because a batch is taken before and its replies are published after.`,
    );
}

/** The mode of each group that is open. */
const accessOf = (given: Parts['groups']): OpenModes =>
  Object.fromEntries(
    openable.flatMap((group) => {
      const access = given[group] ?? (openByDefault.includes(group) ? usualMode(group) : 'closed');
      return access === 'closed' ? [] : [[group, access]];
    }),
  );

interface Open extends Pick<ResolvedConfig, 'functions'> {
  readonly limiter: Pick<ResolvedConfig['limiter'], 'operationLimits'>;
  readonly events: ResolvedConfig['events'];
  readonly openGroups: readonly Group[];
}

/** The functions whose requests count against a limit. */
function drawingOf(
  { limiter, functions, events, openGroups }: Open,
  { operations, upstreamLimits }: Required<EndpointsOptions>,
): readonly Drawing[] {
  const draws = (list: readonly Operation[]) =>
    list.some((one) => limitsOf(one, { ...limiter, ...(upstreamLimits && { upstreamLimits }) }));
  const drawing: Drawing[] = openGroups
    .flatMap(functionsOf)
    .filter((name) => draws(operationsIn(name, operations)))
    .map((name) => ({
      property: `functions.reservedConcurrency.${name}`,
      reserved: functions.reservedConcurrency[name],
    }));
  if (events && draws(readsOf(operations, events.groups)))
    drawing.push({ property: 'events.reservedConcurrency', reserved: events.reservedConcurrency });
  return drawing;
}
