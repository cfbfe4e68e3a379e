/** Expressions of DynamoDB, as far as the stores of `functions/aws` write them. */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';

export type Item = Readonly<Record<string, AttributeValue>>;

/** What stands beside an expression. */
export interface Terms {
  readonly ConditionExpression?: string | undefined;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
}

type Value = AttributeValue | undefined;
type Operand = (item: Item) => Value;
type Condition = (item: Item) => boolean;

const comparisons: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

/** Not a number where one of them is absent, or of another type. */
function compare(a: Value, b: Value): number {
  if (a?.N !== undefined && b?.N !== undefined) return Number(a.N) - Number(b.N);
  const [one, other] = [a, b].map(
    (value) => value?.S ?? (value?.B && Buffer.from(value.B).toString('latin1')),
  );
  if (a?.M && b?.M) return areEqual(a.M, b.M) ? 0 : Number.NaN;
  if (one === undefined || other === undefined) return Number.NaN;
  return one === other ? 0 : one < other ? -1 : 1;
}

const areEqual = (a: Item, b: Item): boolean =>
  Object.keys({ ...a, ...b }).every((name) => compare(a[name], b[name]) === 0);

/** As many operators and functions as DynamoDB takes in one expression. */
const maxOperators = 300;

class Parser {
  readonly #tokens: readonly string[];
  readonly #terms: Terms;
  #at = 0;

  constructor(text: string, terms: Terms) {
    this.#tokens = text.match(/[#:]?\w+|<=|>=|<>|[^\s\w]/g) ?? [];
    const operators = this.#tokens.filter((token) => /^([<>=+]|<=|>=|<>|AND|OR|BETWEEN|IN|\()$/i.test(token));
    if (operators.length > maxOperators) throw new RangeError(`${operators.length} operators`);
    this.#terms = terms;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#tokens.length;
  }

  has(token: string): boolean {
    const isNext = this.#tokens[this.#at]?.toUpperCase() === token;
    if (isNext) this.#at++;
    return isNext;
  }

  take(token: string): void {
    if (!this.has(token)) throw new SyntaxError(`${this.#tokens.join(' ')}: no ${token} at ${this.#at}`);
  }

  word = (): string => this.#tokens[this.#at++] ?? '';

  list<T>(one: () => T): readonly T[] {
    const all = [one()];
    while (this.has(',')) all.push(one());
    return all;
  }

  path(): readonly string[] {
    const names: string[] = [];
    do {
      const word = this.word();
      names.push(word.startsWith('#') ? this.#terms.ExpressionAttributeNames![word]! : word);
    } while (this.has('.'));
    return names;
  }

  operand = (): Operand => {
    if (!this.#tokens[this.#at]?.startsWith(':')) {
      const path = this.path();
      return (item) => at(item, path);
    }
    const name = this.word();
    const value = this.#terms.ExpressionAttributeValues?.[name];
    if (!value) throw new SyntaxError(`${name} has no value`);
    return () => value;
  };

  condition(): Condition {
    let left = this.#both();
    while (this.has('OR')) {
      const [one, other] = [left, this.#both()];
      left = (item) => one(item) || other(item);
    }
    return left;
  }

  #both(): Condition {
    let left = this.#single();
    while (this.has('AND')) {
      const [one, other] = [left, this.#single()];
      left = (item) => one(item) && other(item);
    }
    return left;
  }

  #single(): Condition {
    if (this.has('(')) {
      const inner = this.condition();
      this.take(')');
      return inner;
    }
    for (const [name, isWanted] of [
      ['ATTRIBUTE_EXISTS', true],
      ['ATTRIBUTE_NOT_EXISTS', false],
    ] as const)
      if (this.has(name)) {
        const [operand] = this.#inBrackets();
        return (item) => (operand!(item) !== undefined) === isWanted;
      }
    if (this.has('BEGINS_WITH')) {
      const [text, start] = this.#inBrackets();
      return (item) => text!(item)?.S?.startsWith(start!(item)?.S ?? '') ?? false;
    }
    return this.#comparison(this.operand());
  }

  #comparison(left: Operand): Condition {
    if (this.has('BETWEEN')) {
      const low = this.operand();
      this.take('AND');
      const high = this.operand();
      return (item) => compare(left(item), low(item)) >= 0 && compare(left(item), high(item)) <= 0;
    }
    if (this.has('IN')) {
      const some = this.#inBrackets();
      return (item) => some.some((one) => compare(left(item), one(item)) === 0);
    }
    const word = this.word();
    const isSo = comparisons[word];
    if (!isSo) throw new SyntaxError(`${this.#tokens.join(' ')}: ${word} is not known here`);
    const right = this.operand();
    return (item) => isSo(compare(left(item), right(item)));
  }

  #inBrackets(): readonly Operand[] {
    this.take('(');
    const all = this.list(this.operand);
    this.take(')');
    return all;
  }
}

const at = (item: Item, [first = '', ...rest]: readonly string[]): Value =>
  rest.length === 0 ? item[first] : at(item[first]?.M ?? {}, rest);

function put(item: Item, [first = '', ...rest]: readonly string[], value: Value): Item {
  if (rest.length > 0)
    return { ...item, [first]: { M: put(item[first]?.M ?? {}, rest, value) } as AttributeValue };
  const { [first]: _, ...others } = item;
  return value ? { ...others, [first]: value } : others;
}

/** True of every item without an expression. */
export function conditionOf(text: string | undefined, terms: Terms): Condition {
  if (text === undefined) return () => true;
  const parser = new Parser(text, terms);
  const condition = parser.condition();
  if (!parser.isAtEnd) throw new SyntaxError(`${text}: more than a condition`);
  return condition;
}

/** Attributes that a condition names, in its order. */
export const pathsOf = (text: string, { ExpressionAttributeNames: names = {} }: Terms): readonly string[] =>
  [...text.matchAll(/(?<![:\w])#?\w+/g)]
    .map(([word]) => names[word] ?? word)
    .filter((word) => !/^(AND|BETWEEN|begins_with)$/.test(word));

/** The item after it. */
export function update(before: Item, text: string, terms: Terms): Item {
  const parser = new Parser(text, terms);
  let after = before;
  while (!parser.isAtEnd)
    if (parser.has('SET'))
      parser.list(() => {
        const path = parser.path();
        parser.take('=');
        const value = parser.operand()(before);
        after = put(after, path, parser.has('+') ? sum(value, parser.operand()(before)) : value);
      });
    else if (parser.has('ADD'))
      parser.list(() => {
        const path = parser.path();
        after = put(after, path, sum(at(before, path) ?? { N: '0' }, parser.operand()(before)));
      });
    else {
      parser.take('REMOVE');
      parser.list(() => {
        after = put(after, parser.path(), undefined);
      });
    }
  return after;
}

const sum = (a: Value, b: Value): AttributeValue => ({ N: String(Number(a?.N) + Number(b?.N)) });
