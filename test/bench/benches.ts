/** The benches by name, and how much of each is a measurement and how much only shows that it works. */

import type { Bench } from '../support/figures.ts';
import { benchCachedRead } from './cached.ts';
import { benchGateway } from './gateway.ts';
import { benchRefused } from './refused.ts';
import { benchSigner } from './signer.ts';
import { benchStartUp } from './start-up.ts';

export const benches = {
  signer: { run: benchSigner, full: { rounds: 400, warmUp: 40 } },
  gateway: { run: benchGateway, full: { rounds: 1500, warmUp: 200 } },
  'cached-read': { run: benchCachedRead, full: { rounds: 3000, warmUp: 300 } },
  refused: { run: benchRefused, full: { rounds: 15, warmUp: 5 } },
  'start-up': { run: benchStartUp, full: { rounds: 21, warmUp: 1 } },
} as const satisfies Readonly<Record<string, Bench>>;
