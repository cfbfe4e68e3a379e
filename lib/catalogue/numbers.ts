/** Numbers that a setting may have: in one place for all who check it, with the words that refuse the others. */

export interface Numbers {
  readonly words: string;
  readonly has: (value: number) => boolean;
}

/** The ends of a range of whole numbers. */
export type Range = readonly [min: number, max: number];

export const isIn = ([min, max]: Range, value: unknown): boolean =>
  Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;

export const wholeNumbers = ([min, max]: Range): Numbers => ({
  words: `a whole number from ${min} to ${max}`,
  has: (value) => isIn([min, max], value),
});
