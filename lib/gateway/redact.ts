/**
 * Finds secrets in the upstream's texts, in every form in which a server may quote what it received: unchanged or in
 * another case, percent-encoded, as an escape of JSON, HTML or a programming language, in hexadecimal, and in base64,
 * also in the middle of a longer base64 text of several lines.
 */

/**
 * A shorter text occurs by chance in ordinary words and in their base64, so that every message would be full of gaps. It
 * is replaced only where it stands unchanged as a word of its own. No app secret is this short.
 */
const minLength = 8;

/**
 * Creates a function that replaces each of the hidden texts in each form. Its patterns are created on the first call.
 *
 * @param shown the text that replaces a hidden one
 * @example
 * createRedactor(['my secret'])('wrong: bXkgc2VjcmV0'); // 'wrong: [redacted]'
 */
export function createRedactor(
  hidden: readonly string[],
  shown: (hidden: string) => string = () => '[redacted]',
): (text: string) => string {
  let patterns: readonly Pattern[] | undefined;
  return (text) => {
    patterns ??= hidden
      .filter((one) => one !== '')
      .flatMap((one) => patternsOf(one).map((pattern) => ({ ...pattern, shown: shown(one) })));
    // Only ASCII is lowered: another letter may become two, and matches would be at wrong positions.
    const lower = text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
    return withoutSpans(
      text,
      patterns.flatMap((pattern) => spansOf(pattern, text, lower)),
    );
  };
}

/** Reverses percent-encoding and JSON escapes, several times, because an encoded text may have been encoded again. */
export function decoded(text: string): string {
  let plain = text;
  for (let times = 0; times < maxEncodings && /[%\\]/.test(plain); times++)
    plain = plain.replace(/(?:%[\da-f]{2})+|\\u([\da-f]{4})|\\(["\\/])/gi, (encoded, unit, char) => {
      if (unit) return String.fromCharCode(Number.parseInt(unit, 16));
      return char ?? utf8Of(encoded);
    });
  return plain;
}

const maxEncodings = 4;

const utf8Of = (encoded: string) =>
  new TextDecoder().decode(Uint8Array.from(encoded.slice(1).split('%'), (hex) => Number.parseInt(hex, 16)));

/** Bytes searched at a time, so that an answer of megabytes is not copied as a whole. */
const pieceBytes = 65_536;
/** Longest encoding of one character, which may have been encoded several times. */
const maxBytesPerCharacter = 16;

/**
 * Creates a function that finds the hidden texts in an answer, in upper or lower case and however escaped. Short texts
 * are left out, because they occur by chance. An answer without escapes is not copied.
 */
export function holdsOneOf(hidden: readonly string[]): (answer: Uint8Array) => boolean {
  const sought = hidden.filter(({ length }) => length >= minLength).map((one) => one.toLowerCase());
  const needles = sought.map((one) => new TextEncoder().encode(one));
  const overlap = maxBytesPerCharacter * Math.max(0, ...sought.map(({ length }) => length));
  const decoder = new TextDecoder();
  const holds = (piece: Uint8Array) => {
    if (needles.some((one) => includes(piece, one))) return true;
    if (!piece.includes(percent) && !piece.includes(backslash)) return false;
    const plain = decoded(decoder.decode(piece)).toLowerCase();
    return sought.some((one) => plain.includes(one));
  };
  return (answer) => {
    for (let start = 0; start < answer.length; start += pieceBytes)
      if (holds(answer.subarray(start, start + pieceBytes + overlap))) return true;
    return false;
  };
}

const percent = 0x25;
const backslash = 0x5c;

/** @param needle in lower case */
function includes(piece: Uint8Array, needle: Uint8Array): boolean {
  const [first = 0] = needle;
  for (let at = 0; at <= piece.length - needle.length; at++) {
    if (lowerCase[piece[at]!] !== first) continue;
    let length = 1;
    while (length < needle.length && lowerCase[piece[at + length]!] === needle[length]) length++;
    if (length === needle.length) return true;
  }
  return false;
}

const lowerCase = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

/** The forms of a hidden text, piece by piece. */
interface Pattern {
  /** Text that replaces a match. */
  readonly shown?: string;
  /** The forms of each piece, in lower case. */
  readonly pieces: readonly (readonly string[])[];
  /** First characters of any form: comparing every form at every position would be slow. */
  readonly firsts: ReadonlySet<string>;
  /** Whether the base64 digit before or after a match contains some of the secret's bits. */
  readonly sharesBefore?: boolean;
  readonly sharesAfter?: boolean;
  readonly isWord?: boolean;
}

type Span = readonly [start: number, end: number, shown: string];

/** All matches, overlapping ones too: otherwise the rest of a skipped match would show a part of the secret. */
function spansOf(pattern: Pattern, text: string, lower: string): readonly Span[] {
  const { pieces, firsts, sharesBefore, sharesAfter, isWord, shown = '' } = pattern;
  const searched = isWord ? text : lower;
  const spans: Span[] = [];
  for (let start = 0; start < searched.length; start++) {
    if (!firsts.has(searched[start]!)) continue;
    const end = endOfMatch(pieces, searched, start);
    if (end === undefined) continue;
    if (isWord && (isLetter(text[start - 1]) || isLetter(text[end]))) continue;
    const before = sharesBefore && isDigit(text[start - 1]) ? 1 : 0;
    const after = sharesAfter && isDigit(text[end]) ? 1 : 0;
    spans.push([start - before, end + after, shown]);
  }
  return spans;
}

/** The furthest end of a match. One form of a piece may be a prefix of another, so all paths are followed together. */
function endOfMatch(pieces: Pattern['pieces'], text: string, start: number): number | undefined {
  let ends: readonly number[] = [start];
  for (const forms of pieces) {
    const next = new Set<number>();
    for (const end of ends)
      for (const form of forms) if (text.startsWith(form, end)) next.add(end + form.length);
    if (next.size === 0) return undefined;
    ends = [...next];
  }
  return Math.max(...ends);
}

function withoutSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  let left = '';
  let hiddenUpTo = 0;
  let isFirst = true;
  for (const [start, end, shown] of [...spans].sort(([a], [b]) => a - b)) {
    if (isFirst || start > hiddenUpTo) left += `${text.slice(hiddenUpTo, start)}${shown}`;
    hiddenUpTo = Math.max(hiddenUpTo, end);
    isFirst = false;
  }
  return left + text.slice(hiddenUpTo);
}

const isLetter = (char = '') => /[\p{L}\p{N}]/u.test(char);
const isDigit = (char = '') => /^[\w+/-]$/.test(char);

function patternsOf(hidden: string): readonly Pattern[] {
  if (hidden.length < minLength) return [patternOf([[hidden]], { isWord: true })];
  const bytes = new TextEncoder().encode(hidden);
  const inHex = Array.from(bytes, (byte, index) =>
    (index > 0 ? ['', ' ', ':', '-', ...lineBreaks] : ['']).map((separator) => separator + hexOf(byte)),
  );
  return [
    patternOf([...hidden].map(formsOf)),
    patternOf(inHex),
    ...[0, 1, 2].map((before) => base64Pattern(bytes, before)),
  ];
}

const patternOf = (pieces: Pattern['pieces'], more: Omit<Pattern, 'pieces' | 'firsts'> = {}): Pattern => ({
  pieces,
  firsts: new Set((pieces[0] ?? []).map((form) => form[0]!)),
  ...more,
});

/** Line breaks that encoders put into long base64 and hexadecimal texts, plain or escaped for JSON or a URL. */
const lineBreaks: readonly string[] = ['\n', '\r\n', '\\n', '\\r\\n', '%0a', '%0d%0a'];

const hexOf = (value: number, digits = 2) => value.toString(16).padStart(digits, '0');

const htmlNames: Readonly<Record<string, string>> = {
  '"': '&quot;',
  '&': '&amp;',
  "'": '&apos;',
  '<': '&lt;',
  '>': '&gt;',
};

/** All forms of one character; each character of a text may have a different form. */
function formsOf(char: string): readonly string[] {
  const codePoint = char.codePointAt(0)!;
  const units = Array.from({ length: char.length }, (_, index) => hexOf(char.charCodeAt(index), 4));
  const bytes = Array.from(new TextEncoder().encode(char), (byte) => hexOf(byte));
  const upTo4 = [0, 1, 2, 3];
  return [
    ...new Set([char, char.toLowerCase(), char.toUpperCase()].map((one) => one.replace(/[A-Z]/, lowerOf))),
    ...('"/\\'.includes(char) ? [`\\${char}`] : []),
    ...(char === ' ' ? ['+'] : []),
    ...(htmlNames[char] ? [htmlNames[char]] : []),
    // Encoded or escaped up to four times.
    ...upTo4.map((times) => bytes.map((byte) => `%${'25'.repeat(times)}${byte}`).join('')),
    ...upTo4.map((times) => units.map((unit) => `\\${'\\'.repeat(times)}u${unit}`).join('')),
    ...upTo4.map((times) => bytes.map((byte) => `\\${'\\'.repeat(times)}x${byte}`).join('')),
    ...upTo4.flatMap((zeros) => [
      `&#x${'0'.repeat(zeros)}${codePoint.toString(16)};`,
      `&#${'0'.repeat(zeros)}${codePoint};`,
    ]),
  ];
}

const lowerOf = (letter: string) => letter.toLowerCase();

/**
 * Base64 writes three bytes as four digits, so the digits of a text depend on how many bytes precede it. Digits that it
 * shares with its neighbours are unknown; they are replaced, too, because some of their bits belong to the text.
 *
 * @param before how many bytes precede the text since the last whole group of three
 */
function base64Pattern(bytes: Uint8Array, before: number): Pattern {
  const digits = btoa(String.fromCharCode(...new Uint8Array(before), ...bytes));
  const from = (before * 8) / 6;
  const to = ((before + bytes.length) * 8) / 6;
  const [first = '', ...others] = digits.slice(Math.ceil(from), Math.floor(to));
  // Created once per distinct digit: a token may have thousands of digits.
  const inLines = new Map([...new Set(others)].map((digit) => [digit, formsInLines(digit)]));
  return patternOf([formsOfDigit(first), ...others.map((digit) => inLines.get(digit)!)], {
    sharesBefore: !Number.isInteger(from),
    sharesAfter: !Number.isInteger(to),
  });
}

/** The forms of a base64 digit, with and without a line break before it. */
const formsInLines = (digit: string): readonly string[] =>
  ['', ...lineBreaks].flatMap((lineBreak) => formsOfDigit(digit).map((form) => lineBreak + form));

/** The forms of a base64 digit in the standard and the URL-safe alphabet. */
function formsOfDigit(digit: string): readonly string[] {
  if (digit === '+') return ['-', ...formsOf(digit)];
  if (digit === '/') return ['_', ...formsOf(digit)];
  return [digit.toLowerCase()];
}
