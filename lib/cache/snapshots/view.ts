/**
 * A view is everything that a call asks for beside its symbols. Records of different views are different bytes and never stand in
 * for each other; views share only the limit.
 */

type ViewQuery = readonly (readonly [name: string, value: string])[];

export interface View {
  /** Names the view in the store, stably: `US_STOCK`, `US_STOCK+eo`, `US_STOCK+e;depth=5`. */
  readonly id: string;
  /** Symbols are valid or unknown by category; the other parameters of the view do not matter. */
  readonly category: string;
  /** The parameters that are sent beside `symbols`. */
  readonly query: ViewQuery;
}

/** Parameters that are off when absent, each with its letter in the id. */
const flags = { e: 'extend_hour_required', o: 'overnight_required' } as const;
type Flag = keyof typeof flags;
const letters = Object.keys(flags) as readonly Flag[];
const flagNames: readonly string[] = Object.values(flags);

/**
 * The view of a query: two queries share an id only if they ask the same of the upstream.
 *
 * @param query checked against the operation; a flag that is `false` is one that is absent
 */
export function viewOf(query: ViewQuery): View {
  const { symbols: _, category, ...others } = Object.fromEntries(query);
  const set = letters.filter((letter) => others[flags[letter]] === 'true');
  const parameters = Object.entries(others).filter(
    ([name, value]) => !(flagNames.includes(name) && (value === 'true' || value === 'false')),
  );
  // An empty category is not an absent one.
  if (category === '') parameters.push(['category', '']);
  return viewWith(category ?? '', set, parameters);
}

/** The view of an id that another instance wrote. */
export function viewOfId(id: string): View {
  const [head = '', ...rest] = id.split(';');
  const [category = '', set = ''] = head.split('+');
  const parameters = rest.map((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return [unescapeText(name), unescapeText(value)] as const;
  });
  return viewWith(
    unescapeText(category),
    letters.filter((letter) => set.includes(letter)),
    parameters,
  );
}

/** The id of the view without its flags. */
export const plainId = (id: string): string => id.replace(/\+[^;]*/, '');

function viewWith(category: string, set: readonly Flag[], parameters: ViewQuery): View {
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : 1));
  const others = sorted.map(([name, value]) => `;${escapeText(name)}=${escapeText(value)}`);
  return {
    id: `${escapeText(category)}${set.length > 0 ? `+${set.join('')}` : ''}${others.join('')}`,
    category,
    query: [
      ...(category === '' ? [] : [['category', category] as const]),
      ...set.map((letter) => [flags[letter], 'true'] as const),
      ...sorted,
    ],
  };
}

/** Escapes any text, so that no character of it can be taken for a separator of ids and keys. */
const escapeText = (text: string): string =>
  text.replace(/[^\w.-]/g, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const unescapeText = (text: string): string =>
  text.replace(/%([0-9a-f]{4})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
