/** The simulated upstream without a server, for tests on a virtual clock. */

import type { Upstream } from '../../infra/simulator/handle.ts';
import { NonceMemory } from '../../infra/simulator/nonces.ts';
import { RequestCounters } from '../../infra/simulator/request-counters.ts';
import { createWorld } from '../../infra/simulator/world.ts';
import { operations, routesOf } from '../../lib/catalogue/index.ts';
import { credentials } from './core.ts';

/** Takes the credentials of the tests; it has no limits but the given ones. */
export const upstreamOfTest = (given: Partial<Pick<Upstream, 'counters' | 'world'>> = {}): Upstream => ({
  routes: routesOf(operations),
  credentials: new Map([[credentials.appKey, credentials.appSecret]]),
  accessToken: undefined,
  foreignKeys: new Set(),
  unsubscribed: [],
  toleranceSeconds: 300,
  nonces: new NonceMemory(),
  counters: new RequestCounters({}),
  world: createWorld(1),
  ...given,
});
