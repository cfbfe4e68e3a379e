/** The local run's settings, read from the environment once and refused in one line. */

import { randomBytes } from 'node:crypto';
import { type Group, openable, openByDefault, type RequestLimit } from '../../lib/catalogue/index.ts';
import { baseUrlFault } from '../../lib/gateway/index.ts';
import {
  type AppCredentials,
  type Environment,
  inventAppCredentials,
  readAppCredentials,
  readPort,
  StartError,
} from '../environment.ts';

export interface LocalSettings {
  readonly port: number;
  readonly apiKey: string;
  readonly openGroups: readonly Group[];
  readonly credentials: AppCredentials;
  /** The simulator's port, or the base URL of another upstream. */
  readonly upstream: { readonly simulatorPort: number } | { readonly baseUrl: string };
  /** In place of the interface's limit, at the plan and at the simulator alike; for load tests. */
  readonly marketDataLimit?: Pick<RequestLimit, 'requests' | 'perSeconds'>;
}

/** @throws StartError naming the variable */
export function readSettings(env: Environment): LocalSettings {
  const credentials = readAppCredentials(env);
  const baseUrl = env.UPSTREAM_BASE_URL;
  if (baseUrl) {
    const fault = baseUrlFault(baseUrl);
    if (fault) throw new StartError(`UPSTREAM_BASE_URL: ${fault}.`);
    if (!credentials) throw new StartError('UPSTREAM_BASE_URL is set: it needs APP_KEY and APP_SECRET too.');
  }
  return {
    port: readPort(env, 'PORT', 8787),
    apiKey: readApiKey(env.API_KEY),
    // The simulator's accounts are nobody's: in front of it everything may be open.
    openGroups: readOpenGroups(env.OPEN_GROUPS, baseUrl ? openByDefault : openable),
    credentials: credentials ?? inventAppCredentials(),
    upstream: baseUrl ? { baseUrl } : { simulatorPort: readPort(env, 'UPSTREAM_PORT', 8788) },
  };
}

/** Any text that a header carries; API Gateway itself wants 20 to 128 characters. */
function readApiKey(text: string | undefined): string {
  if (!text) return randomBytes(20).toString('hex');
  if (!/^[!-~]{1,128}$/.test(text))
    throw new StartError('API_KEY must be 1 to 128 visible ASCII characters without spaces.');
  return text;
}

function readOpenGroups(text: string | undefined, otherwise: readonly Group[]): readonly Group[] {
  if (text === undefined || text.trim() === '') return otherwise;
  if (text.trim() === 'all') return openable;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !(openable as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new StartError(
      `OPEN_GROUPS has no group ${unknown.map((name) => JSON.stringify(name)).join(', ')}: it takes all, or a list of ${openable.join(', ')}.`,
    );
  return openable.filter((group) => names.includes(group));
}
