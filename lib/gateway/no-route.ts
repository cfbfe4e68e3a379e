/** Refusals of an unknown path and of a method that the path does not take; each names the nearest route or method. */

import { nearestRoute, type Route } from '../catalogue/routes.ts';
import { type Refusal, refusalKinds } from '../problem.ts';

/** @param routes only the open ones, so that a closed path is never named */
export function unknownPath(routes: readonly Route[], path: string): Refusal {
  const nearest = nearestRoute(routes, path);
  return {
    code: 'unknown_operation',
    ...(nearest && {
      detail: `${refusalKinds.unknown_operation.detail} The nearest one is ${nearest.method} ${nearest.path}.`,
    }),
  };
}

export const otherMethod = (allow: readonly string[]): Refusal => ({
  code: 'method_not_allowed',
  allow,
  detail: `This path takes ${allow.join(' or ')}.`,
});
