/** The settings of the functions that look after tokens: the upstream's, and those of users. */

import type { AuthSettings } from '../../lib/access/auth-settings.ts';
import { listAccounts } from '../../lib/catalogue/accounts.ts';
import { checkToken } from '../../lib/catalogue/auth.ts';
import { getConfig } from '../../lib/catalogue/config.ts';
import type { Operation } from '../../lib/catalogue/operation.ts';
import { type Environment, type Read, readAuthSettings, readFunctionSettings } from './environment.ts';
import type { FunctionSettings } from './settings.ts';

/** The same of the check of the access token. */
export const tokenCheckOperations: readonly Operation[] = [checkToken, getConfig, listAccounts];

export const readTokenCheckSettings = (env: Environment): Read<FunctionSettings> =>
  readFunctionSettings(env, tokenCheckOperations);

export function readAuthorizerSettings(env: Environment): Read<AuthSettings> {
  const faults: string[] = [];
  const settings = readAuthSettings(env, faults);
  if (settings) return { ok: true, settings };
  return { ok: false, faults: faults.length > 0 ? faults : ['AUTH: not set'] };
}
