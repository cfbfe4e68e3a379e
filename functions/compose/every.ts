/** Options of the library, each of them named: what is left out does not compile. */

/** All of its members, those with a default too; `undefined` says that the default is meant. */
export type Every<T> = { readonly [Name in keyof Required<T>]: T[Name] };

/**
 * The library lets its users leave options out. A composition may not: an option that a function was built without has cost
 * orders their release from a counter, and no test saw it.
 *
 * @example
 * createSettlement(every<SettlementOptions>({ journal, orders, names, credential, clock, sleep, reportFailure }));
 */
export const every = <T extends object>(options: Every<T>): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
