/**
 * The stages that can be deployed, by name: `cdk synth -c stage=NAME`. Put yours here, with the limits that you choose:
 * docs/limits.md, "What the upstream allows".
 */

import { ConfigError, type CountersignConfig } from './config.ts';

/** Synthesises, but is no upstream: replace it before the first deployment. */
export const exampleBaseUrl = 'https://api.example.com';

/**
 * Shares nothing between callers. On what basis quotes may be shared is not for an example to say: put `marketDataUse`
 * in its place once you know (docs/operation.md, "Before you serve quotes to others").
 */
const unshared = { cache: 'off' } as const;

const stages = {
  dev: { upstream: { baseUrl: exampleBaseUrl, limits: 'published-sandbox' }, ...unshared },
  prod: {
    upstream: { baseUrl: exampleBaseUrl, limits: 'published' },
    ...unshared,
    logs: { retentionDays: 90 },
    onRemoval: 'retain',
  },
} as const satisfies Record<string, CountersignConfig>;

export type StageName = keyof typeof stages;

/** The stack's name in CloudFormation. */
export const stackNameOf = (stage: string) => `Countersign-${stage}`;

export const configOf = (stage: StageName): CountersignConfig => stages[stage];

/**
 * @param name what was asked for, if anything was
 * @throws ConfigError naming the stages that there are
 */
export function stageOf(name: unknown = 'dev'): StageName {
  const known = Object.keys(stages) as StageName[];
  const stage = known.find((candidate) => candidate === name);
  if (stage === undefined)
    throw new ConfigError(
      `stage must be one of ${known.join(', ')}, which stand in infra/stack/stages.ts, not ${JSON.stringify(name)}.`,
    );
  return stage;
}
