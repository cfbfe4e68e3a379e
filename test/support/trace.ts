/**
 * Everything that a part of the gateway shows to others, as lines: what it stores, asks, reports and answers. Two versions of
 * it behave alike where their lines are equal.
 */

import { createHash } from 'node:crypto';

type Kind = 'record' | 'call' | 'report' | 'outcome';
const kinds: readonly Kind[] = ['record', 'call', 'report', 'outcome'];

/** Names of options whose functions write to a store, and of those whose functions ask others. */
const stores =
  /^(store|journal|controls|massCancels|snapshots|responses|streamed|directory|inForce|queue|bus)$/;
const others = /^(upstream|permits|listings|orders|cancel|gateway|send|lookUp|fetch|limiterFor)$/;
/** Reads of a store write no line, nor do time, chance and names. */
const silent =
  /^(read|standing$|counters$|unsettled$|exposed$|open$|clock$|random$|sleep$|after$|now$|name|key|storeTime$)/;

const kindOf = (name: string, within: Kind | undefined): Kind | undefined => {
  if (silent.test(name)) return undefined;
  if (/^(report|onFailure)/.test(name)) return 'report';
  return stores.test(name) ? 'record' : others.test(name) ? 'call' : within;
};

type AnyFunction = (...given: unknown[]) => unknown;

export class Trace {
  readonly lines: string[] = [];
  readonly #ids = new Map<string, string>();

  add(kind: Kind, at: number, ...values: readonly unknown[]): void {
    this.lines.push(`${kind} ${at} ${this.#named(values.map(textOf).join(' '))}`);
  }

  /** Wraps a factory: what it makes, and the ports that it is given, write a line for each call. */
  watched<Options extends object, Made extends object>(
    make: (options: Options) => Made,
  ): (options: Options) => Made {
    return (options) => {
      const { clock = () => 0 } = options as { readonly clock?: () => number };
      return this.#through(make(this.#through(options, undefined, clock)), 'outcome', clock);
    };
  }

  #through<Port extends object>(port: Port, within: Kind | undefined, clock: () => number): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof name === 'symbol') return member;
        const kind = within === 'outcome' ? within : kindOf(name, within);
        if (isPort(member)) return silent.test(name) ? member : this.#through(member, kind, clock);
        if (typeof member !== 'function') return member;
        const run: AnyFunction = member.bind(target);
        return kind ? (...given: unknown[]) => this.#called(kind, name, run, given, clock) : run;
      },
    });
  }

  #called(kind: Kind, name: string, run: AnyFunction, given: unknown[], clock: () => number): unknown {
    if (kind !== 'outcome') {
      this.add(kind, clock(), kind === 'record' ? '' : name, given);
      const answer = run(...given);
      return isPort(answer) ? this.#through(answer, kind, clock) : answer;
    }
    const tell = (value: unknown) => this.add(kind, clock(), name, given, value);
    // Ports may come with a call.
    const answer = run(...given.map((one) => (isPort(one) ? this.#through(one, 'call', clock) : one)));
    if (answer instanceof Promise) answer.then(tell, (error) => tell(`throws ${error}`));
    else tell(answer);
    return answer;
  }

  /** Replaces ids that tests count over the whole process: a trace numbers them itself. */
  #named(text: string): string {
    return text.replace(/order-\d{6}/g, (id) => {
      const name = this.#ids.get(id) ?? `order-of-trace-${this.#ids.size + 1}`;
      this.#ids.set(id, name);
      return name;
    });
  }
}

const isPort = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !ArrayBuffer.isView(value) &&
  !(value instanceof Map || value instanceof Set || value instanceof Promise || value instanceof Error);

/** How many lines there are of each kind, and a digest of them. */
export const digestsOf = (lines: readonly string[]): readonly string[] =>
  kinds.map((kind) => {
    const own = lines.filter((line) => line.startsWith(kind));
    return `${kind} ${own.length} ${createHash('sha256').update(own.join('\n')).digest('hex').slice(0, 12)}`;
  });

/** JSON in the order of its members, which compression depends on. */
export const textOf = (value: unknown): string =>
  JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, shown: unknown) {
    const given = this[key];
    if (given instanceof Uint8Array) return new TextDecoder().decode(given);
    if (given instanceof Map || given instanceof Set) return [...given];
    const isOdd = typeof given === 'number' && !Number.isFinite(given);
    if (isOdd || given instanceof Error || (key === '' && typeof given === 'function')) return String(given);
    if (isPort(given) && 'sources' in given && 'id' in given) return given.id;
    return shown;
  }) ?? 'undefined';

/** The first line that differs, from shortly before the place where it does, and the line before it; undefined of equal traces. */
export function firstDifference(before: readonly string[], after: readonly string[]): string | undefined {
  const length = Math.max(before.length, after.length);
  for (let at = 0; at < length; at++) {
    const [was = '(it ends)', is = '(it ends)'] = [before[at], after[at]];
    if (was === is) continue;
    let same = 0;
    while (was[same] === is[same]) same++;
    const excerpt = (line: string) =>
      `${line.slice(0, 24)} … ${line.slice(Math.max(24, same - 120), same + 120)}`;
    return `line ${at + 1}\n    ${(before[at - 1] ?? '(it begins)').slice(0, 240)}\n  - ${excerpt(was)}\n  + ${excerpt(is)}`;
  }
  return undefined;
}
