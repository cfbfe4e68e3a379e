/** A function's environment, and the settings of access tokens in it. */

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
