/** The settings of the canary. */

import { type Environment, type Read, requiredOf } from './environment.ts';

export interface CanarySettings {
  /** What it asks for, with a query. */
  readonly url: string;
  /** The secret that holds its API key. */
  readonly keySecretId: string;
}

export function readCanarySettings(env: Environment): Read<CanarySettings> {
  const faults: string[] = [];
  const required = requiredOf(env, faults);
  const settings = { url: required('CANARY_URL'), keySecretId: required('CANARY_KEY_SECRET_ID') };
  return faults.length > 0 ? { ok: false, faults } : { ok: true, settings };
}
