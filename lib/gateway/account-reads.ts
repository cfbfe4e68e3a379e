/**
 * Reads of account data. Equal requests share one answer, as they do for market data, but never across credentials, and
 * never across a change of the account that passed through the gateway. The gateway checks the sender's grants before a
 * read, and cuts other senders' accounts out of the answer afterwards.
 */

import {
  createVersions,
  type MissLimit,
  maxStoredBytes,
  type ResponseCache,
  type ResponseStore,
  responseKey,
  type StoredResponse,
} from '../cache/responses/index.ts';
import { endpointCounterOf, endpointLimitsOf, type LimitName, limits } from '../catalogue/limits.ts';
import type { Operation } from '../catalogue/operation.ts';
import { sha256Hex } from '../kernel/key-text.ts';
import type { Sealer } from '../kernel/sealer.ts';
import type { AdmittedRequest } from './admit.ts';
import type { CachedReads, CacheOptions, CacheParts } from './cache-options.ts';
import { askResponses, openResponseCache, parametersOf, ruleOf } from './cached-responses.ts';
import { accountOf, type Credential } from './credential.ts';
import { type LimitRules, limitsOf, sizeOf } from './limits/operation-limits.ts';

interface AccountReads extends CachedReads {
  /**
   * Ends the shared answers of an account after a request that changed it, or may have. Never rejects.
   */
  changed(change: AdmittedRequest): Promise<void>;
}

/** Memory for the answers of one credential: an answer is some kilobytes, and a history of orders some hundred. */
const maxBytes = 8 * 1024 * 1024;
/** Least time left to wait until other instances can see a change: the answer to an order comes first. */
const minTellMs = 1000;

export function createAccountReads(
  options: Pick<CacheOptions, 'responses' | 'versions' | 'tuning'>,
  parts: CacheParts,
): AccountReads {
  /** A cache for each credential, whose memory and requests under way end with the credential. */
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
    async ask(read) {
      const { route, valid, credential } = read;
      // An answer with no freshness is shared only within this instance, which knows its own changes. Where another
      // gateway makes the changes, this one serves one request at a time, as on Lambda, or shares that gateway's versions.
      const version = await versions.current(await subjectOf(read), ruleOf(route.operation).seconds === 0);
      const request = await responseKey(route.operation.id, valid.query, valid.body, credential.appKey);
      const key = `${await accountOf(credential)}#${version}#${request}`;
      const missLimits = missLimitsOf(route.operation, parts);
      const outcome = await askResponses(cacheOf(credential), read, { key, limits: missLimits }, parts);
      return outcome.kind === 'cached' ? { ...outcome, isAccountData: true } : outcome;
    },
    async changed(change) {
      const timeLeft = change.context.deadline - parts.clock();
      await versions.change(await subjectOf(change), timeLeft < minTellMs);
    },
  };
}

/**
 * The subject of a request: the account that it names, or else all data of the operation's group for the credential, such
 * as the watchlists. A hash of the account alone would confirm a guess, so the app key is hashed with it. The app secret
 * is not, because instances with the old and the new secret share versions while an operator replaces it.
 */
async function subjectOf({ route, valid, credential }: AdmittedRequest): Promise<string> {
  const { account_id: account } = parametersOf(valid);
  const subject =
    typeof account === 'string' ? ['account', account, credential.appKey] : ['group', route.operation.group];
  return `${await accountOf(credential)}#${(await sha256Hex(JSON.stringify(subject))).slice(0, 32)}`;
}

/** The operation's narrowest limit, from which a caller's quota of misses is computed; none for an unlimited operation. */
function missLimitsOf(operation: Operation, rules: LimitRules): readonly MissLimit[] {
  const name = limitsOf(operation, rules)?.at(-1);
  if (name === undefined) return [];
  const endpoint = endpointCounterOf(operation, endpointLimitsOf(rules.upstreamLimits));
  const figures =
    rules.operationLimits[name] ?? (endpoint?.name === name ? endpoint : limits[name as LimitName]);
  return figures ? [{ name, size: sizeOf(figures) }] : [];
}

const utf8 = (text: string) => new TextEncoder().encode(text);

/**
 * Wraps the store of all instances so that its content is sealed with a key derived from the app secret. A copy of the
 * table then shows no account's data, and no other app key reads it. Refusals are sealed, too: they may name an account.
 */
function sealedResponses(store: ResponseStore, sealer: Sealer): ResponseStore {
  const aboutOf = (key: string, askedAt: number) => JSON.stringify([key, askedAt]);
  return {
    ...store,
    async read(key, consistency) {
      const stored = await store.read(key, consistency);
      if (stored?.kind !== 'answer') return undefined;
      const { askedAt } = stored;
      const opened = await sealer.open(stored.body, aboutOf(key, askedAt));
      return opened && unpack(opened, askedAt);
    },
    async write(key, answer, expiresAt) {
      const { askedAt } = answer;
      if (answer.kind === 'answer' && answer.body.byteLength > maxStoredBytes)
        return store.release(key, askedAt);
      const body = await sealer.seal(pack(answer), aboutOf(key, askedAt));
      await store.write(key, { kind: 'answer', body, askedAt }, expiresAt);
    },
  };
}

/** First byte of a packed answer, before its content. */
const kinds = { answer: 0, refused: 1 } as const;

function pack(answer: StoredResponse): Uint8Array {
  const content = answer.kind === 'answer' ? answer.body : utf8(JSON.stringify(answer.refusal ?? null));
  const packed = new Uint8Array(1 + content.byteLength);
  packed[0] = kinds[answer.kind];
  packed.set(content, 1);
  return packed;
}

function unpack(packed: Uint8Array, askedAt: number): StoredResponse {
  const content = packed.slice(1);
  if (packed[0] === kinds.answer) return { kind: 'answer', body: content, askedAt };
  return { kind: 'refused', refusal: JSON.parse(new TextDecoder().decode(content)), askedAt };
}
