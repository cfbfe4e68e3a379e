/** Interprets a symbol in an order: a stock or fund, an option contract, or the root that names its class. */

/** Members of a JSON object by name. */
export type ReadonlyMembers = ReadonlyMap<string, string>;

/** An option contract in the OCC form: root, yymmdd, C or P, and the strike in thousandths with eight digits. */
const occForm = /^([A-Z]{1,6}\d?|\d[A-Z]{1,5})\s*(\d{6}[CP]\d{8})$/;

export const isContract = (symbol = ''): boolean => occForm.test(symbol.trim().toUpperCase());

/**
 * Underlyings of listed option roots that differ from the underlying's symbol: other settlements of an index, as the
 * options exchange lists them.
 */
const underlyings: Readonly<Record<string, string>> = {
  SPXW: 'SPX',
  SPXPM: 'SPX',
  NDXP: 'NDX',
  RUTW: 'RUT',
  VIXW: 'VIX',
  DJXW: 'DJX',
  XSPW: 'XSP',
  XEO: 'OEX',
  MRUTW: 'MRUT',
  XNDXW: 'XNDX',
};

/** Spells `BRK.B` and `BRK B` alike. */
export const plainSymbol = (symbol: string): string => symbol.toUpperCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Month and year of a futures contract, after its root: `Z6` in `ESZ6`. */
const futuresEnd = /[FGHJKMNQUVXZ]\d{1,2}$/;

interface Named {
  /** The contract, its root and its underlying, as `plainSymbol` spells them. */
  readonly names: readonly string[];
  /** False for an adjusted contract, whose underlying is not known. */
  readonly isKnown: boolean;
  /** Whether the symbol names a class or one of its contracts, whose underlying may have another symbol. */
  readonly isClass: boolean;
}

/** @param instrument instrument type of the order or leg; undefined where it is not known */
export function namesOf(symbol: string, instrument: string | undefined): Named {
  const upper = symbol.trim().toUpperCase();
  const [, ofContract] = occForm.exec(upper) ?? [];
  if (ofContract === undefined && instrument !== 'OPTION') {
    const plain = plainSymbol(upper);
    const root = instrument === 'FUTURES' || instrument === undefined ? plain.replace(futuresEnd, '') : plain;
    return { names: distinct([plain, root]), isKnown: true, isClass: instrument === 'FUTURES' };
  }
  const root = plainSymbol(ofContract ?? upper);
  const underlying = underlyings[root];
  // The root of an adjusted class has a digit; its contracts do not deliver a hundred shares of one symbol.
  return {
    names: distinct([plainSymbol(upper), root, underlying ?? root]),
    isKnown: !/\d/.test(root),
    isClass: true,
  };
}

/** Removes repetitions and the empty name, which all symbols of mere punctuation or a month would share. */
const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)].filter(Boolean);

/**
 * The contract of an option order or leg, named as in quotes.
 *
 * @returns no contract where the members do not name one, or it does not deliver a hundred shares; `isContradictory` where
 * they name another contract than the symbol, so that the upstream may trade either
 */
export function contractNamed(members: ReadonlyMembers): {
  readonly contract?: string;
  readonly isContradictory: boolean;
} {
  const symbol = members.get('symbol')?.trim().toUpperCase();
  if (symbol === undefined) return { isContradictory: false };
  const [, root, rest] = occForm.exec(symbol) ?? [];
  const told = termsOf(members);
  const isContradictory = told === null || (root !== undefined && told !== undefined && told !== rest);
  const terms = rest ?? told;
  if (isContradictory || typeof terms !== 'string' || !namesOf(symbol, 'OPTION').isKnown)
    return { isContradictory };
  return { contract: `${root ?? plainSymbol(symbol)}${terms}`, isContradictory };
}

/** The contract's terms from the members; undefined where there are none, null for incomplete or invalid ones. */
function termsOf(members: ReadonlyMembers): string | null | undefined {
  const [day, type, strike] = ['option_expire_date', 'option_type', 'strike_price'].map((name) =>
    members.get(name),
  );
  if (day === undefined && type === undefined && strike === undefined) return undefined;
  const [, year, month, date] = /^\d\d(\d\d)-(\d\d)-(\d\d)$/.exec(day ?? '') ?? [];
  const [, whole, part = ''] = /^0*(\d{1,5})(?:\.(\d{1,3})0*)?$/.exec(strike ?? '') ?? [];
  if (year === undefined || whole === undefined || !(type === 'CALL' || type === 'PUT')) return null;
  return `${year}${month}${date}${type[0]}${whole.padStart(5, '0')}${part.padEnd(3, '0')}`;
}
