/** Repeatable chance: one seed gives the same world each time. */

export type Random = () => number;

/** Draws from 0 to below 1 (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Draws times between events that are independent of each other. */
export const exponential = (random: Random, mean: number): number => -Math.log(1 - random()) * mean;

/** Draws from the normal distribution. */
export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

export interface Dice {
  /** From 0 to below 1. */
  readonly random: Random;
  /** A whole number, from 0 to below `end`. */
  below(end: number): number;
  chance(probability: number): boolean;
  oneOf<T>(things: readonly [T, ...T[]]): T;
}

export function createDice(seed: number): Dice {
  const random = createRandom(seed);
  const below = (end: number) => Math.floor(random() * end);
  return {
    random,
    below,
    chance: (probability) => random() < probability,
    oneOf: (things) => things[below(things.length)] ?? things[0],
  };
}
