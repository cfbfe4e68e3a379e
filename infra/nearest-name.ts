/** The name that was probably meant by one that nothing has. */

/** How many letters may be missing, too many, other ones or in the wrong order in a name of so many letters. */
export type Tolerance = (letters: number) => number;

const usual: Tolerance = (letters) => Math.max(1, Math.floor(letters / 3));

/**
 * The known name that differs least, in any case of letters; or one that the given name is the beginning of.
 *
 * @returns undefined where none is near
 * @example
 * nearestName('baseURl', ['baseUrl', 'limits']); // 'baseUrl'
 * nearestName('bonds', ['orders', 'accounts']); // undefined
 */
export function nearestName(
  given: string,
  known: readonly string[],
  tolerance: Tolerance = usual,
): string | undefined {
  // What a person has misspelt is short.
  if (given.length > 64) return undefined;
  const [nearest] = known
    .map((name) => ({ name, edits: editsBetween(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, edits }) => edits <= tolerance(name.length))
    .sort((one, other) => one.edits - other.edits);
  return nearest?.name;
}

/**
 * What to add to a refusal of a name.
 *
 * @returns a sentence with a space before it, or nothing
 */
export function didYouMean(given: string, known: readonly string[]): string {
  const nearest = nearestName(given, known) ?? longerName(given, known);
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`;
}

/** `timeout` is written for `timeoutSeconds`. */
const longerName = (given: string, known: readonly string[]): string | undefined => {
  const longer = known.filter((name) => given.length >= 4 && name.startsWith(given));
  return longer.length === 1 ? longer[0] : undefined;
};

/** Letters to add, to take away, to change, or to swap with their neighbour (optimal string alignment). */
export function editsBetween(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (isSame ? 0 : 1),
        ...(isSwapped ? [beforeLast[column - 2]! + 1] : []),
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[other.length]!;
}
