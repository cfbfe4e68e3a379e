/**
 * Which function answers an operation: that of its group. Cancels and reads of orders have one each, so that no read
 * takes an instance from placing, and nothing takes one from a cancel; and so have streams.
 */

import { type Group, groups } from './groups.ts';
import type { Operation } from './operation.ts';

type Routed = Pick<Operation, 'group' | 'method' | 'sideEffect' | 'follows' | 'answeredBy'>;

/** What runs apart from the rest of its group, by the function's name. */
interface GroupPart {
  readonly group: Group;
  readonly title: string;
  readonly has: (operation: Routed) => boolean;
}

const parts = {
  'order-cancels': {
    group: 'orders',
    title: 'Order cancels',
    has: ({ sideEffect }) => sideEffect?.cancels === true,
  },
  // A stream takes an instance for as long as it is open.
  'order-streams': {
    group: 'orders',
    title: 'Streams of order events',
    has: ({ answeredBy }) => answeredBy === 'trade events',
  },
  // A POST that changes nothing, such as a preview, belongs to what it prepares.
  'order-reads': { group: 'orders', title: 'Order reads', has: ({ method }) => method === 'GET' },
  'quote-streams': {
    group: 'market-data',
    title: 'Streams of quotes',
    has: ({ follows }) => follows !== undefined,
  },
} as const satisfies Record<string, GroupPart>;

type PartName = keyof typeof parts;

/** A function is called as its group, or as the part of the group that it answers. */
export type FunctionName = Group | PartName;

const partOf = (name: FunctionName): GroupPart | undefined => parts[name as PartName];

const partNames = Object.keys(parts) as PartName[];

/**
 * The function that API Gateway calls for an operation.
 *
 * @example
 * functionOf(cancelOrder); // 'order-cancels'
 */
export const functionOf = (operation: Routed): FunctionName =>
  partNames.find((name) => parts[name].group === operation.group && parts[name].has(operation)) ??
  operation.group;

/**
 * What a function answers.
 *
 * @example
 * operationsIn('order-cancels', operations); // [cancelOrder]
 */
export const operationsIn = (name: FunctionName, operations: readonly Operation[]): readonly Operation[] =>
  operations.filter((operation) => functionOf(operation) === name);

/**
 * The functions of a group, its own first.
 *
 * @example
 * functionsOf('orders'); // ['orders', 'order-cancels', 'order-reads']
 */
export const functionsOf = (group: Group): readonly FunctionName[] => [
  group,
  ...partNames.filter((name) => parts[name].group === group),
];

/** The group whose operations a function answers: access, origins and plans are the group's. */
export const groupOf = (name: FunctionName): Group => partOf(name)?.group ?? (name as Group);

/** What a function is called in words. */
export const titleOf = (name: FunctionName): string => partOf(name)?.title ?? groups[name as Group].title;
