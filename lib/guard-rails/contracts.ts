/** What a symbol in an order stands for: a stock or fund, an option contract, or the root that names its class. */

/** Of a JSON object, by name. */
export type ReadonlyMembers = ReadonlyMap<string, string>;

/** A contract of options in the OCC form: root, yymmdd, C or P, and the strike in thousandths with eight digits. */
const occForm = /^([A-Z]{1,6}\d?|\d[A-Z]{1,5})\s*(\d{6}[CP]\d{8})$/;

export const isContract = (symbol = ''): boolean => occForm.test(symbol.trim().toUpperCase());

/**
 * Roots of listed options that are not their underlying's symbol: other settlements of an index, as the options exchange
 * lists them.
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

/** `BRK.B` and `BRK B` are one. */
export const plainSymbol = (symbol: string): string => symbol.toUpperCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Month and year of a contract of futures, after its root: `Z6` of `ESZ6`. */
const futuresEnd = /[FGHJKMNQUVXZ]\d{1,2}$/;

export interface Named {
  /** What the symbol is and what it belongs to, as `plainSymbol` writes it: a contract, its root, its underlying. */
  readonly names: readonly string[];
  /** False for an adjusted contract, or one of a class that no table has: what it belongs to is not known. */
  readonly isKnown: boolean;
  /** It names a class, or a contract of one: its underlying may be written otherwise. */
  readonly isClass: boolean;
}

/** @param instrument type of the order or leg; undefined where it is not known */
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
  // An adjusted class has a digit, and delivers something else than a hundred shares of one symbol.
  return {
    names: distinct([plainSymbol(upper), root, underlying ?? root]),
    isKnown: !/\d/.test(root),
    isClass: true,
  };
}

/** Without the empty name, which symbols of punctuation or of a month alone would have in common. */
const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)].filter(Boolean);

/**
 * The contract of an option order or leg, as quotes name it.
 *
 * @returns none where the members do not say which one it is, or it delivers something else than a hundred shares;
 * `isContradictory` where they name another contract than the symbol: which of them the upstream takes is not known
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

/** Undefined where no member says any; null for members that are not complete, or no terms of a contract. */
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
