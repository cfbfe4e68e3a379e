/** Operations that a gateway requests by itself, such as look-ups of orders, besides those that it offers. */

import type { Operation } from '../catalogue/operation.ts';

/** The look-up, among the known operations, that shows what became of a request with this operation. */
export const lookUpFor = ({ sideEffect }: Operation, known: readonly Operation[]): Operation | undefined =>
  known.find(({ id }) => id === sideEffect?.journal?.lookUp);

/**
 * The operations, and those that a gateway requests in order to answer them, such as look-ups. The gateway needs the
 * limits and paths of both.
 *
 * @param known all operations of the catalogue
 *
 * @example
 * const upstreamPaths = upstreamPathsOf(allPaths, withLookUps([placeOrder], operations));
 */
export const withLookUps = (
  operations: readonly Operation[],
  known: readonly Operation[],
): readonly Operation[] => [
  ...new Set([
    ...operations,
    ...operations.flatMap((operation) => operation.follows ?? lookUpFor(operation, known) ?? []),
  ]),
];

/** Whether a gateway needs a journal for any of the operations: it records them there, or answers them from there. */
export const areJournaled = (operations: readonly Operation[]): boolean =>
  operations.some(({ sideEffect, answeredBy }) => sideEffect?.journal || answeredBy === 'journal');

/** Whether any of the operations has a look-up that shows what became of a request. */
export const haveLookUps = (operations: readonly Operation[]): boolean =>
  operations.some(({ sideEffect }) => sideEffect?.journal?.lookUp !== undefined);
