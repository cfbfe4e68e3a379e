/** What a bench is asked and what it gives. */

export interface Size {
  readonly rounds: number;
  /** Rounds before those, which do not count. */
  readonly warmUp: number;
}

/** Medians of what was measured, by what it was: never negative, and in the unit that the bench prints. */
export type Figures = Readonly<Record<string, number>>;

export interface Bench {
  /** Prints what it finds. */
  readonly run: (size: Size) => Promise<Figures>;
  readonly full: Size;
}

export const at = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;

export const median = (values: readonly number[]) => at(values, 0.5);
