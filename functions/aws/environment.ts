/** What a function is told by its environment, read once. */

import type { Operation } from '../../lib/catalogue/operation.ts';
import { baseUrlFault } from '../../lib/gateway/base-url.ts';
import { type UpstreamPaths, upstreamPathsFault } from '../../lib/gateway/upstream-paths.ts';
import { type CorsOrigins, originFault } from './cors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface FunctionSettings {
  readonly upstreamBaseUrl: string;
  /** From JSON: paths by the ids of the function's own operations. */
  readonly upstreamPaths?: UpstreamPaths;
  /** The ARN of the secret. */
  readonly secretId: string;
  /** For one attempt at the upstream; the gateway's own default when absent. */
  readonly upstreamTimeoutMs?: number;
  readonly corsOrigins: CorsOrigins;
}

export type ReadSettings =
  | { readonly ok: true; readonly settings: FunctionSettings }
  /** One sentence for each variable that is wrong; values are not repeated. */
  | { readonly ok: false; readonly faults: readonly string[] };

/** API Gateway waits 29 seconds in all. */
const longestUpstreamTimeoutMs = 28_000;

/** @param operations those of this function, which alone may have other paths at the upstream */
export function readFunctionSettings(env: Environment, operations: readonly Operation[] = []): ReadSettings {
  const faults: string[] = [];
  const upstreamBaseUrl = env.UPSTREAM_BASE_URL ?? '';
  const urlFault = upstreamBaseUrl ? baseUrlFault(upstreamBaseUrl) : 'not set';
  if (urlFault) faults.push(`UPSTREAM_BASE_URL: ${urlFault}`);

  const upstreamPaths = readJson(env.UPSTREAM_PATHS);
  const pathsFault = upstreamPathsFault(upstreamPaths, operations);
  if (pathsFault) faults.push(`UPSTREAM_PATHS: ${pathsFault}`);

  const secretId = env.SECRET_ID ?? '';
  if (!secretId) faults.push('SECRET_ID: not set');

  const timeout = env.UPSTREAM_TIMEOUT_MS;
  const upstreamTimeoutMs = timeout ? Number(timeout) : undefined;
  if (timeout && !(/^[1-9]\d{0,4}$/.test(timeout) && Number(timeout) <= longestUpstreamTimeoutMs))
    faults.push(`UPSTREAM_TIMEOUT_MS: not a whole number from 1 to ${longestUpstreamTimeoutMs}`);

  const corsOrigins = readOrigins(env.CORS_ORIGINS);
  if (corsOrigins !== '*')
    for (const [index, origin] of corsOrigins.entries()) {
      const fault = originFault(origin);
      if (fault) faults.push(`CORS_ORIGINS: entry ${index + 1} is no origin; ${fault}, or * stands alone`);
    }

  if (faults.length > 0) return { ok: false, faults };
  return {
    ok: true,
    settings: {
      upstreamBaseUrl,
      ...(env.UPSTREAM_PATHS && { upstreamPaths: upstreamPaths as UpstreamPaths }),
      secretId,
      corsOrigins,
      ...(upstreamTimeoutMs !== undefined && { upstreamTimeoutMs }),
    },
  };
}

function readJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text || '{}');
  } catch {
    return undefined;
  }
}

function readOrigins(text: string | undefined): CorsOrigins {
  if (!text?.trim()) return [];
  if (text.trim() === '*') return '*';
  return text.split(',').map((origin) => origin.trim());
}
