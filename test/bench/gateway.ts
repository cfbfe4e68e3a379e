/** What the gateway adds to a call: the same snapshot through it and straight from the simulator. */

import { startLocalRun } from '../../infra/local/local-run.ts';
import { createSignedFetch, createSigner } from '../../lib/signer/index.ts';
import { at, type Figures, median, type Size } from '../support/figures.ts';

const query = { symbols: 'AAPL,MSFT', category: 'US_STOCK' };
const path = '/openapi/market-data/stock/snapshot';

/** Prints p50 and p99 of both and of the difference of each pair; one process holds all three parties. */
export async function benchGateway({ rounds, warmUp }: Size): Promise<Figures> {
  const credentials = { appKey: 'bench-key', appSecret: 'bench-secret' };
  const run = await startLocalRun({
    port: 0,
    apiKey: 'bench',
    openGroups: ['market-data'],
    credentials,
    upstream: { simulatorPort: 0 },
    marketDataLimit: { requests: 10_000_000, perSeconds: 60 },
    cache: 'off',
  });
  try {
    const signedFetch = createSignedFetch({ signer: createSigner(credentials) });
    const direct = () => signedFetch(`${run.upstreamUrl}${path}`, { query });
    const through = () =>
      fetch(`${run.url}${path}?${new URLSearchParams(query)}`, { headers: { 'x-api-key': 'bench' } });
    const times = { direct: [] as number[], through: [] as number[], added: [] as number[] };
    for (let round = 0; round < rounds + warmUp; round++) {
      // Taken in turn, so that other work of the machine falls on both.
      const straight = await timed(direct);
      const gateway = await timed(through);
      if (round < warmUp) continue;
      times.direct.push(straight);
      times.through.push(gateway);
      times.added.push(gateway - straight);
    }
    console.log(`Gateway: one snapshot of two symbols, ${rounds} pairs, sequential, loopback`);
    for (const [name, label] of [
      ['direct', 'signed, straight to the simulator'],
      ['through', 'through the local gateway'],
      ['added', 'added by the gateway, pair by pair'],
    ] as const)
      console.log(
        `  ${label.padEnd(36)} p50 ${quantile(times[name], 0.5)} ms   p99 ${quantile(times[name], 0.99)} ms`,
      );
    console.log(
      `  ratio of the medians ${(median(times.through) / median(times.direct)).toFixed(2)} (both signed and verified)`,
    );
    return { direct: median(times.direct), through: median(times.through) };
  } finally {
    await run.close();
  }
}

async function timed(call: () => Promise<Response>): Promise<number> {
  const started = performance.now();
  const response = await call();
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`answered ${response.status}`);
  return performance.now() - started;
}

const quantile = (values: readonly number[], share: number) => at(values, share).toFixed(2);
