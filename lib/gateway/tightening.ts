/**
 * Reacts to the upstream's 429 although the gateway kept its limits. Requests of the refused kind pause, and if a tighter
 * choice of limits would have sent less, all instances switch to it. There is a gateway for each choice; one in front
 * passes each request to the gateway of the choice in force, as if that choice had been deployed.
 */

import { limitsText, tighterLimits, type UpstreamLimits } from '../catalogue/limits.ts';
import { createCircuitBreaker } from '../kernel/circuit-breaker.ts';
import { endOf } from '../kernel/pauses.ts';
import type { Limiter } from '../limiter/index.ts';
import type { GatewayRequest } from './http.ts';
import { isOfEndpoint, limitsOf, operationLimitsFault } from './operation-limits.ts';
import type { CoreOptions } from './options.ts';
import { pauseMsOf, type RateLimited, stepPauseMsOf, type Tightening, verdictOn } from './rate-limited.ts';

/** The methods of a gateway, for any types of request and answer. */
interface Answering<Response, Outcome, Request> {
  handle(request: Request): Promise<Response>;
  ask(request: Request): Promise<Outcome>;
}

/** Longest delay of the client's answer while the pause and the switch are stored for other instances. */
const maxWaitMs = 1500;

/** @param create creates the gateway of one choice */
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
    // Other instances may keep a wider choice, and this choice's counters do not include their requests.
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

  // A gateway whose operations count against no limit does not wait for the store.
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

/** The configured choice and the tighter ones, up to the first that does not fit the deployer's own limits. */
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
