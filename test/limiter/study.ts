/** The limit over a million permits and more than twenty seeds, on a virtual clock. */

import { mean, percent, runSeed, type SeedResult } from './seed.ts';

/**
 * @param args permits in all, and seeds
 * @returns whether no true window held more than the limit
 */
export async function studyLimiter(args: readonly string[]): Promise<boolean> {
  const [permits = 1_050_000, seeds = 24] = args.map(Number);
  const results: (SeedResult & { readonly accidents: boolean })[] = [];

  for (let seed = 1; seed <= seeds; seed++) {
    const accidents = seed % 4 >= 2;
    const result = await runSeed({ seed, permits: Math.ceil(permits / seeds), accidents });
    results.push({ ...result, accidents });
    const { sent, worst, utilisation, expired, frozen, killed, minutes } = result;
    console.log(
      `seed ${seed}: ${sent} permits in ${minutes.toFixed(0)} min, worst window ${worst}, saturated ${percent(mean(utilisation))}; ` +
        `${frozen} freezes, ${killed} kills, ${expired} expired`,
    );
  }

  const of = (accidents: boolean) =>
    results.filter((result) => result.accidents === accidents).flatMap(({ utilisation }) => utilisation);
  const sent = results.reduce((sum, result) => sum + result.sent, 0);
  const worst = Math.max(...results.map((result) => result.worst));
  console.log(`${sent} permits, ${seeds} seeds, 200 instances, clocks ±500 ms, network 0 … 500 ms`);
  console.log(`  worst true window of 60 s: ${worst} of 300`);
  for (const [accidents, label] of [
    [false, 'without freezes and kills'],
    [true, 'with freezes and kills'],
  ] as const)
    console.log(
      `  under saturation, ${label}: ${percent(mean(of(accidents)))}, least in any 9 minutes ${percent(Math.min(...of(accidents)))}`,
    );
  return worst <= 300;
}
