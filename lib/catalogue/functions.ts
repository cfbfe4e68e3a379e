/**
 * Assigns each operation to the function that answers it: the function of its group. Cancels and reads of orders have a
 * function each, so that reads do not occupy the instances that place orders, and nothing occupies those of cancels.
 * Streams have functions of their own, too.
 */

import { type Group, groups } from './groups.ts';
import type { Operation } from './operation.ts';

type RoutedOperation = Pick<Operation, 'group' | 'method' | 'sideEffect' | 'follows' | 'answeredBy'>;

/** A part of a group that has a function of its own. */
interface GroupPart {
  readonly group: Group;
  readonly title: string;
  readonly has: (operation: RoutedOperation) => boolean;
}

const groupParts = {
  'order-cancels': {
    group: 'orders',
    title: 'Order cancels',
    has: ({ sideEffect }) => sideEffect?.cancels === true,
  },
  // A stream occupies an instance for as long as it is open.
  'order-streams': {
    group: 'orders',
    title: 'Streams of order events',
    has: ({ answeredBy }) => answeredBy === 'trade events',
  },
  // Chosen by method: a POST that changes nothing, such as a preview, stays with the placing that it prepares.
  'order-reads': { group: 'orders', title: 'Order reads', has: ({ method }) => method === 'GET' },
  'quote-streams': {
    group: 'market-data',
    title: 'Streams of quotes',
    has: ({ follows }) => follows !== undefined,
  },
} as const satisfies Record<string, GroupPart>;

type PartName = keyof typeof groupParts;

/** Name of a function: that of its group, or of the part of the group that it answers. */
export type FunctionName = Group | PartName;

const partOf = (name: FunctionName): GroupPart | undefined => groupParts[name as PartName];

const partNames = Object.keys(groupParts) as PartName[];

/**
 * Finds the function that API Gateway calls for an operation.
 *
 * @example
 * functionOf(cancelOrder); // 'order-cancels'
 */
export const functionOf = (operation: RoutedOperation): FunctionName =>
  partNames.find((name) => groupParts[name].group === operation.group && groupParts[name].has(operation)) ??
  operation.group;

/**
 * Selects the operations that a function answers.
 *
 * @example
 * operationsIn('order-cancels', operations); // [cancelOrder]
 */
export const operationsIn = (name: FunctionName, operations: readonly Operation[]): readonly Operation[] =>
  operations.filter((operation) => functionOf(operation) === name);

/**
 * Lists the functions of a group: the one with the group's name, then those of its parts.
 *
 * @example
 * functionsOf('orders'); // ['orders', 'order-cancels', 'order-reads']
 */
export const functionsOf = (group: Group): readonly FunctionName[] => [
  group,
  ...partNames.filter((name) => groupParts[name].group === group),
];

/** Finds the group whose operations a function answers; access, origins and plans are settings of the group. */
export const groupOf = (name: FunctionName): Group => partOf(name)?.group ?? (name as Group);

/** Title of a function, for people. */
export const titleOf = (name: FunctionName): string => partOf(name)?.title ?? groups[name as Group].title;
