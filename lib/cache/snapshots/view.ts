/**
 * A view: what a snapshot call asks for beside its symbols. Records of different views are different bytes
 * and never stand in for each other; they share only the budget.
 */

export interface View {
  /** Names the view in the store: short and stable, `US_STOCK` or `US_STOCK+eo`. */
  readonly id: string;
  /** Symbols are known or unknown by category, whatever the flags. */
  readonly category: string;
  /** What is sent beside `symbols`. */
  readonly query: readonly (readonly [name: string, value: string])[];
}

const flags = { e: 'extend_hour_required', o: 'overnight_required' } as const;
const letters = Object.keys(flags) as readonly (keyof typeof flags)[];

/** @param query checked against the operation; a flag that is `false` is one that is absent */
export function viewOf(query: readonly (readonly [name: string, value: string])[]): View {
  const said = new Map(query);
  return viewWith(
    said.get('category') ?? '',
    letters.filter((letter) => said.get(flags[letter]) === 'true'),
  );
}

/** The view of an id that another instance wrote. */
export function viewOfId(id: string): View {
  const [category = '', set = ''] = id.split('+');
  return viewWith(
    category,
    letters.filter((letter) => set.includes(letter)),
  );
}

/** The view of the same category without flags. */
export const plainId = (id: string): string => id.split('+', 1)[0]!;

function viewWith(category: string, set: readonly (keyof typeof flags)[]): View {
  return {
    id: set.length > 0 ? `${category}+${set.join('')}` : category,
    category,
    query: [['category', category], ...set.map((letter) => [flags[letter], 'true'] as const)],
  };
}
