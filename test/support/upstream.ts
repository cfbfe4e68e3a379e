/** The simulated upstream without a server, for tests on a virtual clock. */

import { handle, type SimulatedUpstream } from '../../infra/simulator/handle.ts';
import { NonceMemory } from '../../infra/simulator/nonces.ts';
import { RequestCounters } from '../../infra/simulator/request-counters.ts';
import { createWorld } from '../../infra/simulator/world.ts';
import { operations, routesOf } from '../../lib/catalogue/index.ts';
import type { Send } from '../../lib/gateway/index.ts';
import { credentials } from './core.ts';

/** Takes the credentials of the tests; it has no limits but the given ones. */
export const upstreamOfTest = (
  given: Partial<Pick<SimulatedUpstream, 'counters' | 'world'>> = {},
): SimulatedUpstream => ({
  routes: routesOf(operations),
  credentials: new Map([[credentials.appKey, credentials.appSecret]]),
  accessToken: undefined,
  foreignKeys: new Set(),
  toleranceSeconds: 300,
  nonces: new NonceMemory(),
  counters: new RequestCounters({}),
  world: createWorld(1),
  ...given,
});

/** Everything that an upstream takes for its answer. */
const answerMs = 120;

/** Sends to it. @param arrived called with the answer to each request, and with the request, when it arrives */
export const sendTo =
  (
    upstream: SimulatedUpstream,
    arrived: (answer: ReturnType<typeof handle>, request: { method: string; rawTarget: string }) => void,
  ): Send =>
  async ({ method, url, headers, body = '' }, { letGo }) => {
    const { pathname, search, host } = new URL(url);
    let answer: ReturnType<typeof handle> | undefined;
    const leave = () => {
      const rawHeaders = ['host', host, ...Object.entries(headers).flat()];
      const bytes = new TextEncoder().encode(body);
      const request = { method, rawTarget: pathname + search, rawHeaders, body: bytes, now: Date.now() };
      answer = handle(request, upstream);
      arrived(answer, request);
    };
    if (!letGo) leave();
    else if (!(await letGo(leave))) return { kind: 'not_sent' };
    await new Promise((resolve) => setTimeout(resolve, answerMs));
    const { status, body: text } = answer!;
    return { kind: 'answer', status, header: () => undefined, body: new TextEncoder().encode(text) };
  };
