/** A function's environment, under today's names of its variables and their former ones; and the settings of access tokens in it. */

import { type AuthSettings, authSettingsFaults } from '../../lib/access/auth-settings.ts';

export type ReadAuth =
  /** Without settings where the environment has none. */
  | { readonly ok: true; readonly auth?: AuthSettings }
  /** Values are not repeated. */
  | { readonly ok: false; readonly faults: readonly string[] };

/** From `AUTH`, which is JSON. Nothing in it is a secret. */
export function readAuthSettings({ AUTH: text }: Environment): ReadAuth {
  if (!text) return { ok: true };
  let auth: unknown;
  try {
    auth = JSON.parse(text);
  } catch {
    return { ok: false, faults: ['AUTH: not JSON'] };
  }
  const faults = authSettingsFaults(auth);
  return faults.length > 0
    ? { ok: false, faults: faults.map((fault) => `AUTH: ${fault}`) }
    : { ok: true, auth: auth as AuthSettings };
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The names that variables had before. AWS updates a function's code and its environment one after the other, so
 * that an instance that starts in between has new code and the environment of the version before.
 * Renamed after 0.1.0; the release after the next does without them.
 */
export const formerNames: Readonly<Record<string, string>> = {
  LIMITER_TABLE: 'BUDGET_TABLE',
  LIMITER_BUCKET: 'BUDGET_BUCKET',
  LIMITER_SHARE: 'BUDGET_SHARE',
  LIMITER_INSTANCES: 'BUDGET_INSTANCES',
  LIMITER_RESERVE: 'BUDGET_SET_ASIDE',
  LIMITER_OPERATION_LIMITS: 'BUDGET_LIMITS',
  SNAPSHOTS_STALE_AFTER_SECONDS: 'QUOTES_BOUND_SECONDS',
  SNAPSHOTS_EXPIRE_AFTER_SECONDS: 'QUOTES_HARD_BOUND_SECONDS',
  CACHE_MIN_MAX_AGE_SECONDS: 'CACHE_LEAST_MAX_AGE_SECONDS',
  CACHE_REFRESHES_PER_MINUTE: 'CACHE_TURNS_PER_CALLER',
};

/** Reads a variable under its former name where today's is not set. */
export const withFormerNames = (env: Environment): Environment =>
  new Proxy(env, {
    get: (variables, name: string) => variables[name] ?? variables[formerNames[name] ?? name],
  });
