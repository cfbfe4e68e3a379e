/** The upstream: what a deployer may configure of it, and what functions take of that. */

import * as v from 'valibot';
import type { UpstreamSettings } from '../../functions/settings/parts.ts';
import type { Operation } from '../../lib/catalogue/index.ts';
import { limitPresets, type UpstreamLimits, upstreamLimitsFault } from '../../lib/catalogue/limits.ts';
import { baseUrlFault, type UpstreamPaths, upstreamPathsFault } from '../../lib/gateway/index.ts';
import { sentPaths } from '../../lib/gateway/upstream-paths.ts';
import { doubledPathFault } from '../../lib/upstream/base-url.ts';
import type { Mistakes } from '../mistakes.ts';
import { ConfigError, faultless, whole, yesOrNo } from './schema-parts.ts';

export interface UpstreamConfig {
  /** The broker's interface: `https:`, with or without a path prefix. */
  readonly baseUrl: string;
  /**
   * What the upstream allows. Its sources disagree, so the deployer chooses: `interface` is the text of the
   * interface, `published` the vendor's table besides, `published-sandbox` the table for the sandbox; or figures by
   * kind of endpoint.
   */
  readonly limits: UpstreamLimits;
  /**
   * Paths by operation id, for the day on which the upstream retires one: clients' paths stay as they
   * are, the requests are sent there.
   */
  readonly paths?: UpstreamPaths;
  /** How long one attempt may take. Default 10. */
  readonly timeoutSeconds?: number;
  /**
   * For emulators: lets `baseUrl` be `http:` on a loopback address. In Lambda that would be the function's
   * own host, where no upstream is. Default false.
   */
  readonly allowLoopback?: boolean;
}

export const upstreamSchema = v.strictObject({
  baseUrl: faultless(baseUrlFault, 'takes the absolute URL of the upstream'),
  limits: v.optional(
    v.custom<UpstreamLimits>(
      (given) => upstreamLimitsFault(given) === undefined,
      (issue) => `cannot be used: ${upstreamLimitsFault(issue.input)}`,
    ),
  ),
  paths: v.optional(v.record(v.string(), v.string('takes a path')), {}),
  // A read may be sent twice within a function's time, which is at most 28 seconds.
  timeoutSeconds: v.optional(whole(1, 13), 10),
  allowLoopback: v.optional(yesOrNo, false),
});

export type ResolvedUpstream = Omit<UpstreamSettings, 'secretId' | 'timeoutMs'> & {
  readonly timeoutMs: number;
};

/**
 * @param mistakes takes a sentence for each, which names the property
 * @throws ConfigError in one sentence, when it is not chosen what the upstream allows
 */
export function resolveUpstream(
  { allowLoopback, limits, baseUrl, paths, timeoutSeconds }: v.InferOutput<typeof upstreamSchema>,
  operations: readonly Operation[],
  mistakes: Mistakes,
): ResolvedUpstream {
  const cannot = (fault: string) =>
    mistakes.add(`upstream.baseUrl ${JSON.stringify(baseUrl)} cannot be used: ${fault}.`);
  // What is http here is loopback: the schema refuses the rest.
  if (!allowLoopback && new URL(baseUrl).protocol !== 'https:')
    cannot('use https; http on loopback is for emulators, with upstream.allowLoopback');
  const pathsFault = upstreamPathsFault(paths, operations);
  if (pathsFault) mistakes.add(`upstream.paths cannot be used: ${pathsFault}.`);
  const doubled = doubledPathFault(baseUrl, sentPaths(operations, pathsFault ? {} : paths));
  if (doubled) cannot(doubled);
  if (limits === undefined)
    throw new ConfigError(
      `upstream.limits must be chosen, because the upstream’s sources disagree: ${Object.keys(limitPresets).join(', ')}, or an object of limits, see "What the upstream allows" in docs/limits.md.`,
    );
  return { baseUrl, limits, paths, timeoutMs: timeoutSeconds * 1000 };
}
