/** What the upstream allows: the deployer’s choice, because its own sources disagree. */

import * as v from 'valibot';
import { limitPresets, type UpstreamLimits, upstreamLimitsFault } from '../../lib/catalogue/limits.ts';
import { ConfigError } from './config.ts';

export const upstreamLimitsSchema = v.optional(
  v.custom<UpstreamLimits>(
    (given) => upstreamLimitsFault(given) === undefined,
    (issue) => `cannot be used: ${upstreamLimitsFault(issue.input)}`,
  ),
);

/** @throws ConfigError in one sentence, when nothing was chosen */
export function chosenLimits(given: UpstreamLimits | undefined): UpstreamLimits {
  if (given !== undefined) return given;
  throw new ConfigError(
    `upstream.limits must be chosen, because the upstream’s sources disagree: ${Object.keys(limitPresets).join(', ')}, or an object of limits, see "What the upstream allows" in docs/limits.md.`,
  );
}
