/**
 * What the stage lets through of each method that no usage plan bounds in time: those whose callers show a token or a
 * signature, and those that need nothing at all. AWS charges for each request that gets through.
 */

import type { MethodDeploymentOptions } from 'aws-cdk-lib/aws-apigateway';
import { type Group, type Operation, routesOf, type UsagePlan } from '../../lib/catalogue/index.ts';
import { type AccessMode, accessModes } from '../access-modes.ts';

/** The part that a method without any key gets: a probe of `/health` comes every few seconds. */
const partWithoutKey = 0.1;

/** By path and method, as a stage names them. */
export function methodThrottles(
  operations: readonly Operation[],
  access: Readonly<Partial<Record<Group, AccessMode>>>,
  { ratePerSecond, burst }: UsagePlan,
): Readonly<Record<string, MethodDeploymentOptions>> {
  const throttle = (part: number): MethodDeploymentOptions => ({
    throttlingRateLimit: Math.max(1, ratePerSecond * part),
    throttlingBurstLimit: Math.max(1, Math.round(burst * part)),
  });
  const methods = routesOf(operations).flatMap(({ path, method, operation }) => {
    const mode = access[operation.group];
    if (operation.gatewayAnswer) return [[`${path}/${method}`, throttle(partWithoutKey)] as const];
    return mode && !accessModes[mode].throttledByPlan ? [[`${path}/${method}`, throttle(1)] as const] : [];
  });
  return Object.fromEntries([['/health/GET', throttle(partWithoutKey)], ...methods]);
}
