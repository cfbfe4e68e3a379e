/** Finds the known name that an unknown one was probably meant to be. */

/** Largest number of edits (see `editsBetween`) for a name of so many letters. */
type Tolerance = (letters: number) => number;

const usualTolerance: Tolerance = (letters) => Math.max(1, Math.floor(letters / 3));

/**
 * Finds the known name with the fewest edits, in any case of letters.
 *
 * @returns undefined if none is near
 * @example
 * nearestName('baseURl', ['baseUrl', 'limits']); // 'baseUrl'
 * nearestName('bonds', ['orders', 'accounts']); // undefined
 */
export function nearestName(
  given: string,
  known: readonly string[],
  tolerance: Tolerance = usualTolerance,
): string | undefined {
  // A longer text is no misspelt name.
  if (given.length > 64) return undefined;
  const [nearest] = known
    .map((name) => ({ name, edits: editsBetween(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, edits }) => edits <= tolerance(name.length))
    .sort((one, other) => one.edits - other.edits);
  return nearest?.name;
}

/**
 * Ends a refusal of a name with a proposal.
 *
 * @returns a sentence with a space before it, or an empty text
 */
export function didYouMean(given: string, known: readonly string[]): string {
  const nearest = nearestName(given, known) ?? longerName(given, known);
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`;
}

/** Finds `timeoutSeconds` for `timeout`. */
const longerName = (given: string, known: readonly string[]): string | undefined => {
  const longer = known.filter((name) => given.length >= 4 && name.startsWith(given));
  return longer.length === 1 ? longer[0] : undefined;
};

/** Counts letters to add, remove, change, or swap with their neighbour (optimal string alignment). */
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
