/** What a gateway asks the upstream for by itself, beside the operations that it offers. */

import type { Operation } from '../catalogue/operation.ts';

/** The look-up that shows what became of a request, among those that are known here. */
export const lookUpFor = ({ sideEffect }: Operation, known: readonly Operation[]): Operation | undefined =>
  known.find(({ id }) => id === sideEffect?.journal?.lookUp);

/**
 * The operations, and what a gateway asks for to answer them, such as look-ups: it needs their limits and paths, too.
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

/** Whether a gateway needs its journal for any of them: it keeps them there, or answers them from it. */
export const areJournaled = (operations: readonly Operation[]): boolean =>
  operations.some(({ sideEffect, answeredBy }) => sideEffect?.journal || answeredBy === 'journal');

/** Whether a look-up shows what became of any of them. */
export const haveLookUps = (operations: readonly Operation[]): boolean =>
  operations.some(({ sideEffect }) => sideEffect?.journal?.lookUp !== undefined);
