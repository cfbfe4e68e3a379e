/**
 * The local run that the programs call. Its simulator stands still at one moment, unless it is given a clock, so that a
 * snapshot that is asked for twice is the same, and has no limit that a program could reach.
 */

import { type LocalRun, startLocalRun } from '../../infra/local/local-run.ts';
import type { LocalSettings } from '../../infra/local/settings.ts';
import { type Simulator, startSimulator } from '../../infra/simulator/index.ts';
import { openable, placeOrder } from '../../lib/catalogue/index.ts';

/** What a program meets besides: answers in their usual form; or the other form, and the answer to its order is lost. */
export const circumstances = ['usual', 'other forms, lost answer'] as const;

export type Circumstance = (typeof circumstances)[number];

export interface Upstream {
  readonly simulator: Simulator;
  readonly run: LocalRun;
  close(): Promise<void>;
}

export const apiKey = 'key-of-this-test';

const credentials = { appKey: 'app-key', appSecret: 'app-secret' };
const marketDataLimit = { requests: 1_000_000, perSeconds: 60 };
const standingStill = () => {
  const start = Date.now();
  return () => start;
};
const orderPaths: readonly string[] = [placeOrder.path, ...placeOrder.aliases];

/** @param settings further ones of the local run */
export async function startUpstream(
  circumstance: Circumstance,
  clock = standingStill(),
  settings: Partial<LocalSettings> = {},
): Promise<Upstream> {
  const simulator = await startSimulator({
    ...credentials,
    clock,
    toleranceSeconds: 1e9,
    limits: { 'market-data': marketDataLimit },
    ...(circumstance !== 'usual' && {
      forms: 'other',
      fault: ({ path }) => (orderPaths.includes(path) ? { kind: 'drop-after' } : undefined),
    }),
  });
  const run = await startLocalRun({
    port: 0,
    apiKey,
    openGroups: openable,
    credentials,
    // The first account is on margin, the second holds cash.
    users: [{ name: 'ada', accounts: simulator.accounts.slice(0, 1).map(({ account_id: id }) => id) }],
    upstream: { baseUrl: simulator.url },
    marketDataLimit,
    tradeEvents: { url: `http://127.0.0.1:${simulator.events.port}`, isShown: false },
    ...settings,
  });
  return {
    simulator,
    run,
    async close() {
      await run.close();
      await simulator.close();
    },
  };
}
