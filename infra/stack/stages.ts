/**
 * The stages that can be deployed, by name: `cdk synth -c stage=NAME`. Put yours here, with the limits that you choose:
 * docs/limits.md, "What the upstream allows". Without a clone they stand as JSON in `countersign.json` of the folder in
 * which a command runs; where that file is, it replaces the ones below.
 */

import { existsSync, readFileSync } from 'node:fs';
import type { CountersignConfig } from './config.ts';
import { ConfigError } from './config-error.ts';

/** Synthesises, but is no upstream: replace it before the first deployment. */
export const exampleBaseUrl = 'https://api.example.com';

/**
 * Shares nothing between callers. On what basis quotes may be shared is not for an example to say: put `marketDataUse`
 * in its place once you know (docs/deployment.md, "Before you serve quotes to others").
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
  /**
   * What `countersign prove` makes and deletes: small enough for a new account. Half of the limits, so that the gateway's
   * refusals come before the upstream's, and orders of one share.
   */
  prove: {
    upstream: { baseUrl: exampleBaseUrl, limits: 'published-sandbox' },
    ...unshared,
    groups: { accounts: 'iam', orders: 'iam', watchlists: 'iam' },
    limiter: { share: 0.5 },
    trading: { limits: { max_order_quantity: '1' } },
    plans: { default: { tier: 'app' } },
    functions: { reservedConcurrency: 'none' },
    alarms: 'off',
    dashboard: 'off',
    logs: { retentionDays: 1 },
  },
} as const satisfies Record<string, CountersignConfig>;

/** The stages of the current folder, in place of those above. */
const stagesFile = 'countersign.json';

/** @throws ConfigError for a file that is no object of stages; what a stage has is checked where it is resolved */
function ownStages(): Readonly<Record<string, CountersignConfig>> {
  if (!existsSync(stagesFile)) return stages;
  try {
    const given: unknown = JSON.parse(readFileSync(stagesFile, 'utf8'));
    if (typeof given === 'object' && given !== null && !Array.isArray(given))
      return given as Readonly<Record<string, CountersignConfig>>;
  } catch {
    // As for any other JSON.
  }
  throw new ConfigError(`${stagesFile} must be JSON like {"prod": {"upstream": {"baseUrl": "https://…"}}}.`);
}

/** Where an operator finds and changes the stages. */
export const stagesPlace = () =>
  existsSync(stagesFile) || !existsSync('infra/stack/stages.ts') ? stagesFile : 'infra/stack/stages.ts';

/** The stack's name in CloudFormation. */
export const stackNameOf = (stage: string) => `Countersign-${stage}`;

/** @param stage of `stageOf` */
export const configOf = (stage: string): CountersignConfig => ownStages()[stage] as CountersignConfig;

/**
 * @param name what was asked for, if anything was; it is not repeated in the error, for it may be a secret in a wrong place
 * @throws ConfigError naming the stages that there are
 */
export function stageOf(name: unknown = 'dev'): string {
  const known = Object.keys(ownStages());
  const stage = known.find((candidate) => candidate === name);
  if (stage === undefined)
    throw new ConfigError(`stage must be one of ${known.join(', ')}, which stand in ${stagesPlace()}.`);
  return stage;
}
