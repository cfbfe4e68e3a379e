/**
 * Reads of what belongs to an account at the upstream. Equal requests share one answer, as they do for market data,
 * but never across credentials, and never across a change of the account that passed through the gateway. Whether the
 * sender may have the answer is decided before it is looked up, and of a list of accounts each sender gets its own.
 */

import { createVersions, type MissLimit, type ResponseCache, responseKey } from '../cache/responses/index.ts';
import type { Freshness } from '../catalogue/freshness.ts';
import { endpointCounterOf, endpointLimitsOf, type LimitName, limits } from '../catalogue/limits.ts';
import type { Operation } from '../catalogue/operation.ts';
import { sha256Hex } from '../sha256.ts';
import type { CachedRead, CacheOptions, CacheParts } from './cache-options.ts';
import { askResponses, openResponseCache, parametersOf } from './cached-responses.ts';
import { accountOf, type Credential } from './credential.ts';
import { sizeOf } from './limit-sizes.ts';
import { type LimitRules, limitsOf } from './operation-limits.ts';
import type { Outcome } from './outcome.ts';
import { sealedResponses } from './sealed-responses.ts';

export interface AccountReads {
  ask(read: CachedRead, freshness: Freshness): Promise<Outcome>;
  /**
   * A request has changed something at the upstream, or may have: what was asked for before is served no more. Never
   * rejects.
   */
  changed(change: CachedRead): Promise<void>;
}

/** An account's answers are some kilobytes; a history of orders is some hundred. */
const maxBytes = 8 * 1024 * 1024;
/** Other instances are told of a change only while so much time is left: the answer to an order comes first. */
const minTellMs = 1000;

export function createAccountReads(
  options: Pick<CacheOptions, 'responses' | 'versions' | 'tuning'>,
  parts: CacheParts,
): AccountReads {
  /** Each credential has memory and requests under way of its own, which end with it. */
  const caches = new WeakMap<Credential, ResponseCache>();
  const { versions = createVersions({ store: options.responses, clock: parts.clock }) } = options;

  function cacheOf(credential: Credential): ResponseCache {
    const store = sealedResponses(options.responses, credential.sealer);
    const cache =
      caches.get(credential) ?? openResponseCache({ ...options, responses: store }, parts, { maxBytes });
    caches.set(credential, cache);
    return cache;
  }

  return {
    async ask(read, rule) {
      const { route, valid, credential } = read;
      const credentialName = await accountOf(credential);
      // What is not kept is shared in this instance alone, which knows its own changes. Where another gateway makes the
      // changes, this one serves one request at a time, as Lambda's instances do, or shares its versions with the other.
      const version = await versions.current(await subjectOf(read), rule.seconds === 0);
      const key = `${credentialName}#${version}#${await responseKey(route.operation.id, valid.query, valid.body)}`;
      const missLimits = missLimitsOf(route.operation, parts);
      const outcome = await askResponses(cacheOf(credential), read, { key, rule, limits: missLimits }, parts);
      return outcome.kind === 'cached' ? { ...outcome, isAccountData: true } : outcome;
    },
    async changed(change) {
      const timeLeft = change.context.deadline - parts.clock();
      await versions.change(await subjectOf(change), timeLeft < minTellMs);
    },
  };
}

/**
 * What a request is about: the account that it names, or else all that its group has of the credential, such as the
 * watchlists.
 */
async function subjectOf({ route, valid, credential }: CachedRead): Promise<string> {
  const { account_id: account } = parametersOf(valid);
  const subject = typeof account === 'string' ? ['account', account] : ['group', route.operation.group];
  return `${await accountOf(credential)}#${(await sha256Hex(JSON.stringify(subject))).slice(0, 32)}`;
}

/** The narrowest limit of an operation, of which a caller has a quota; none where nothing limits it. */
function missLimitsOf(operation: Operation, rules: LimitRules): readonly MissLimit[] {
  const name = limitsOf(operation, rules)?.at(-1);
  if (name === undefined) return [];
  const endpoint = endpointCounterOf(operation, endpointLimitsOf(rules.upstreamLimits));
  const figures =
    rules.operationLimits[name] ?? (endpoint?.name === name ? endpoint : limits[name as LimitName]);
  return figures ? [{ name, size: sizeOf(figures) }] : [];
}
