/**
 * After the upstream's 429 in spite of the limits that the gateway keeps: what was refused pauses, and where a tighter
 * choice of limits would have sent less, all instances go over to it. A gateway for each choice stands behind one that
 * passes each request to the gateway of the choice in force, as if the tighter choice had been deployed.
 */

import { limitsText, tighterLimits, type UpstreamLimits } from '../catalogue/limits.ts';
import { createCircuitBreaker } from '../kernel/circuit-breaker.ts';
import { endOf } from '../kernel/pauses.ts';
import type { Limiter } from '../limiter/index.ts';
import type { GatewayRequest } from './http.ts';
import { isOfEndpoint, limitsOf, operationLimitsFault } from './operation-limits.ts';
import type { CoreOptions } from './options.ts';
import { pauseMsOf, type RateLimited, stepPauseMsOf, type Tightening, verdictOn } from './rate-limited.ts';

/** A gateway with answers of any kind. */
interface Answering<Response, Outcome, Request> {
  handle(request: Request): Promise<Response>;
  ask(request: Request): Promise<Outcome>;
}

/** The client's answer waits so long until other instances know. */
const maxWaitMs = 1500;

/** @param create makes the gateway of one choice */
export function createTighteningGateway<Response, Outcome, Request = GatewayRequest>(
  { tightening, ...options }: CoreOptions,
  { inForce, limiterFor, share = 1, report }: Tightening,
  create: (options: CoreOptions) => Answering<Response, Outcome, Request>,
): Answering<Response, Outcome, Request> {
  const { clock, random, operationLimits = {} } = options;
  const breaker = options.breaker ?? createCircuitBreaker({ clock, random });
  const choices = choicesOf(options);
  const limiters = new Map<number, Limiter | undefined>([[0, options.limiter]]);
  const limiterAt = (steps: number) => {
    if (!limiters.has(steps)) limiters.set(steps, limiterFor(choices[steps]!));
    return limiters.get(steps);
  };

  async function afterRateLimit(steps: number, { operation, appKey, refusal }: RateLimited): Promise<void> {
    const namesOf = (at: number) => limitsOf(operation, { operationLimits, upstreamLimits: choices[at]! });
    async function pause(at: number, ms: number, name = namesOf(at)?.[0]): Promise<void> {
      if (name !== undefined) await limiterAt(at)?.block(appKey, name, ms);
    }
    const endpoint = namesOf(steps)?.find(isOfEndpoint);
    await pause(steps, pauseMsOf(operation, choices[steps]!, refusal), endpoint);
    // Other instances may keep a wider choice, and what they sent is in no counter of this one.
    const widest = await inForce.widest(steps);
    const { verdict, steps: next } = await verdictOn(operation, {
      choices,
      steps: widest,
      share,
      names: namesOf(widest) ?? [],
      usedOf: (name) => limiterAt(widest)?.used(appKey, name),
    });
    if (next > widest) {
      const stepMs = stepPauseMsOf(operation, choices[next]!, refusal);
      await pause(steps, stepMs);
      await pause(next, stepMs);
      await inForce.tighten(next);
    }
    const now = Math.min(inForce.known, choices.length - 1);
    report?.({ operation: operation.id, verdict, kept: limitsText(choices[now]!), steps: now });
  }

  const gatewayAt = (steps: number) =>
    create({
      ...options,
      breaker,
      upstreamLimits: choices[steps]!,
      limiter: limiterAt(steps),
      isInForce: async () => Math.min(await inForce.current(), choices.length - 1) === steps,
      afterRateLimit: (refused) =>
        endOf(afterRateLimit(steps, refused), Math.min(maxWaitMs, refused.timeLeft)),
    });
  let current = { steps: 0, gateway: gatewayAt(0) };
  function gatewayOf(known: number) {
    const steps = Math.min(known, choices.length - 1);
    if (steps !== current.steps) current = { steps, gateway: gatewayAt(steps) };
    return current.gateway;
  }

  // What counts against no limit does not wait for the store: a function of orders alone, for example.
  const waits = options.operations.some((one) =>
    limitsOf(one, { operationLimits, upstreamLimits: choices[0]! }),
  );
  const first = inForce.current();
  async function inForceNow() {
    const read = inForce.current();
    if (waits || inForce.known > 0) await first.then(() => read);
    return gatewayOf(inForce.known);
  }
  return {
    handle: async (request) => (await inForceNow()).handle(request),
    ask: async (request) => (await inForceNow()).ask(request),
  };
}

/** The configured choice and all tighter ones that go together with the deployer's own limits. */
function choicesOf({ upstreamLimits, operationLimits = {}, operations }: CoreOptions): UpstreamLimits[] {
  const choices: UpstreamLimits[] = [upstreamLimits ?? 'interface'];
  for (
    let next = tighterLimits(choices[0]!);
    next && !operationLimitsFault(operationLimits, operations, next);
    next = tighterLimits(next)
  )
    choices.push(next);
  return choices;
}
