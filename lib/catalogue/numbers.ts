/** Ranges of the numbers that a setting accepts: one place for the check and for the text of its refusal. */

export interface Numbers {
  readonly words: string;
  readonly has: (value: number) => boolean;
}

/** Ends of a range of whole numbers, both included. */
export type Range = readonly [min: number, max: number];

export const isIn = ([min, max]: Range, value: unknown): boolean =>
  Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;

export const wholeNumbers = ([min, max]: Range): Numbers => ({
  words: `a whole number from ${min} to ${max}`,
  has: (value) => isIn([min, max], value),
});
