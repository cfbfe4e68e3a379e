/**
 * Where the processes of a history stand. Code that was answered the same stands at the same place in each history, if it was
 * answered at the same times, or did not read its clock. It runs once to get there, however many histories come by.
 */

import { createHash } from 'node:crypto';
import type { Variant } from './variant.ts';

/** What a process waits for, and the ways in which a history can answer it. */
export interface Call<History> {
  readonly label: string;
  readonly wakeAt?: number;
  readonly variants: (history: History) => readonly Variant[];
}

export interface Process<History> {
  readonly name: string;
  readonly instance: number;
  /** Begins it with what its first step has come to. */
  readonly start: (running: Running<History>, value: unknown) => void;
  readonly answers: readonly Answered[];
  /** A digest of all that it was answered, and when, where that matters. */
  readonly seen: string;
}

export interface Answered {
  /** Which of its calls, in their order. */
  readonly call: number;
  readonly label: string;
  readonly variant: string;
  readonly now: number;
  /** How far its instance's clock is ahead. */
  readonly ahead: number;
  readonly came: { readonly value: unknown } | { readonly cause: unknown };
}

/** What becomes of a history when a process comes there. */
type Told<History> = (history: History) => void;

interface Waiting<History> extends Call<History> {
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

interface Stand<History> {
  readonly process: Process<History>;
  readonly calls: readonly Call<History>[];
  readonly told: readonly Told<History>[];
  /** The code that stands there, until it is answered in one of the histories. */
  running: Running<History> | undefined;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The code of one process. It sees its clock and its answers, and of a history nothing else. */
export class Running<History> {
  readonly calls: Waiting<History>[] = [];
  told: Told<History>[] = [];
  /** Since the last answer it has asked what time it is. */
  isTimed = false;
  readonly #process: Process<History>;
  #now = 0;
  #ahead = 0;
  #ids = 0;
  #hasBegun = false;

  constructor(process: Process<History>) {
    this.#process = process;
  }

  readonly clock = (): number => {
    this.isTimed = true;
    return this.#now + this.#ahead;
  };

  call<T>(label: string, variants: Call<History>['variants'], afterMs?: number): Promise<T> {
    if (afterMs !== undefined) this.isTimed = true;
    return new Promise<T>((resolve, reject) => {
      const call = { label, variants, resolve: resolve as Waiting<History>['resolve'], reject };
      this.calls.push(afterMs === undefined ? call : { ...call, wakeAt: this.#now + afterMs });
    });
  }

  readonly sleep = (ms: number): Promise<void> => {
    // What is drawn by chance is the same in each history.
    const takesMs = Number.isInteger(ms) ? ms : 20;
    return this.call(`sleep ${takesMs}`, () => [{ name: '', run: () => undefined }], takesMs);
  };

  tell(told: Told<History>): void {
    this.told.push(told);
  }

  async answer({ call, label, now, ahead, came }: Answered): Promise<void> {
    [this.#now, this.#ahead, this.told, this.isTimed] = [now, ahead, [], false];
    const { randomUUID } = crypto;
    crypto.randomUUID = () => `${this.#process.name}-0-0-0-${this.#ids++}`;
    try {
      if (this.#hasBegun) this.#goOn(this.calls.splice(call, 1)[0], label, came);
      else this.#process.start(this, 'value' in came ? came.value : undefined);
      this.#hasBegun = true;
      await turn();
    } finally {
      crypto.randomUUID = randomUUID;
    }
  }

  #goOn(waiting: Waiting<History> | undefined, label: string, came: Answered['came']): void {
    if (waiting?.label !== label)
      throw new Error(`${this.#process.name} does not repeat itself: ${waiting?.label} in place of ${label}`);
    if ('cause' in came) waiting.reject(came.cause);
    else waiting.resolve(came.value);
  }
}

export class Stands<History> {
  readonly #known = new Map<string, Stand<History>>();

  /** @returns where it stands when it was answered that, too */
  async after(before: Process<History>, answered: Answered): Promise<Stand<History>> {
    const { now, ahead, call, label, variant, came } = answered;
    const words = inWords([before.name, before.seen, call, label, variant, Object.values(came)]);
    const untimed = digest(words);
    const timed = `${untimed} ${now} ${ahead}`;
    const known = this.#known.get(untimed) ?? this.#known.get(timed);
    if (known) return known;
    const running = this.#takeFrom(before.seen) ?? (await runAgain(before));
    await running.answer(answered);
    const seen = running.isTimed ? timed : untimed;
    const process = { ...before, answers: [...before.answers, answered], seen };
    const stand = { process, calls: [...running.calls], told: running.told, running };
    this.#known.set(seen, stand);
    return stand;
  }

  #takeFrom(seen: string): Running<History> | undefined {
    const stand = this.#known.get(seen);
    const running = stand?.running;
    if (stand) stand.running = undefined;
    return running;
  }
}

async function runAgain<History>(process: Process<History>): Promise<Running<History>> {
  const running = new Running(process);
  for (const answered of process.answers) await running.answer(answered);
  return running;
}

/** Of objects, none of which changes: most are in thousands of states. */
const objectsInWords = new WeakMap<object, string>();

/** All of it: what is equal in words is equal. */
export function inWords(value: unknown): string {
  if (value instanceof Map) return inWords([...value]);
  if (Array.isArray(value)) return `[${value.map(inWords).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  const words = objectsInWords.get(value) ?? JSON.stringify(value, plainly);
  objectsInWords.set(value, words);
  return words;
}

const plainly = (_: string, value: unknown): unknown => {
  if (value instanceof Map) return [...value];
  if (value instanceof Error) return String(value);
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
};

export const digest = (text: string): string => createHash('sha1').update(text).digest('base64');
