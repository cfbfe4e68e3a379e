/** What the argument readers of the operators' commands have in common. */

import { type ParseArgsConfig, parseArgs } from 'node:util';
import { StartError } from '../environment.ts';

/** Says in one sentence what is wrong, and where help is. */
export type Fail = (sentence: string) => never;

/** @param help the sentence that names it */
export const failWith =
  (help: string): Fail =>
  (sentence) => {
    throw new StartError(`${sentence} ${help}`);
  };

export function parsedArguments<const O extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: O,
  fail: Fail,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split('. ');
    return fail(`${sentence}.`);
  }
}

export const stageIn = (text: string, fail: Fail): string =>
  /^[a-z][a-z0-9-]{0,31}$/.test(text)
    ? text
    : fail('A stage has 1 to 32 lower-case letters, digits and -, a letter first.');

/** @param known the options that the command takes */
export function onlyKnown(verb: string, values: object, known: readonly string[], fail: Fail): void {
  for (const name of Object.keys(values)) if (!known.includes(name)) fail(`${verb} takes no --${name}.`);
}

export const accountIn = (text: string, fail: Fail): string =>
  /^[\w.-]{1,64}$/.test(text)
    ? text
    : fail('--account must be an account id: 1 to 64 letters, digits, _, . and -.');

export function wholeIn(option: string, text: string, max: number, fail: Fail): number {
  const value = Number(text);
  return /^\d+$/.test(text) && value >= 1 && value <= max
    ? value
    : fail(`--${option} must be a whole number from 1 to ${max}.`);
}
