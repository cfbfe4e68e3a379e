/** Options and checks of arguments that several commands share; none of them asks another machine. */

import { checkBaseUrl } from '../../lib/client/connection.ts';
import { ConfigError } from '../stack/config-error.ts';
import { stackNameOf, stageOf } from '../stack/stages.ts';
import { flag, refuse, value } from './command.ts';

export const json = flag('prints JSON');

/** @param otherwise text that the help shows, and that is read when the option is absent */
export const whole = (says: string, max: number, otherwise: string) =>
  value('<n>', says, wholeIn(max), otherwise);

export const wholeIn = (max: number) => (text: string) => {
  const number = Number(text);
  return /^\d+$/.test(text) && number >= 1 && number <= max
    ? number
    : refuse(`must be a whole number from 1 to ${max}.`);
};

/** Reads one of some words. */
export const oneOf =
  <const T extends string>(...words: readonly T[]) =>
  (text: string): T =>
    words.find((word) => word === text) ??
    refuse(`must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`);

/** @param example of a pair, for the refusal */
export const pairIn =
  (example: string) =>
  (text: string): readonly [name: string, value: string] => {
    const at = text.indexOf('=');
    return at > 0 ? [text.slice(0, at), text.slice(at + 1)] : refuse(`takes name=value, such as ${example}.`);
  };

export const accountIn = (text: string): string =>
  /^[\w.-]{1,64}$/.test(text) ? text : refuse('must be an account id: 1 to 64 letters, digits, _, . and -.');

export const urlIn = (text: string): string =>
  /^https?:\/\/[^\s?#]+$/.test(text) && URL.canParse(text)
    ? text.replace(/\/+$/, '')
    : refuse('must be a URL such as https://api.example.com/v1, without a query.');

/** Reads the address to which a client connects. */
export function baseUrlIn(text: string): string {
  const url = urlIn(text);
  try {
    return checkBaseUrl(url);
  } catch (error) {
    throw error instanceof TypeError ? refuse(`${error.message.replace('baseUrl:', 'must be')}.`) : error;
  }
}

/** Reads a stage's name, which must be in the configuration; AWS is not asked. */
export function stageIn(text: string): string {
  try {
    return stageOf(text);
  } catch (error) {
    // Shapes the message like a reader's: it continues the option's name.
    throw error instanceof ConfigError ? refuse(error.message.replace(/^stage /, '')) : error;
  }
}

export const stage = value('<name>', 'a stage of your configuration', stageIn, 'dev');

const stackIn = (text: string): string =>
  /^[A-Za-z][A-Za-z0-9-]{0,127}$/.test(text)
    ? text
    : refuse('must be the name of a stack in CloudFormation: letters, digits and -, a letter first.');

/** Options of commands that ask a deployed stack. */
export const deployed = {
  stage: value('<name>', 'a stage of your configuration (default: dev)', stageIn),
  stack: value(
    '<name>',
    'a stack, in place of a stage: of another CDK app, or of a stage that is gone',
    stackIn,
  ),
} as const;

/** Stack that a command is about. */
export interface StackTarget {
  readonly stackName: string;
  /** Options that name the stack, for a line that an operator may paste. */
  readonly options: string;
}

/** @throws UsageError if both are given */
export function targetOf({
  stage,
  stack,
}: {
  readonly stage: string | undefined;
  readonly stack: string | undefined;
}): StackTarget {
  if (stage !== undefined && stack !== undefined) return refuse('--stage or --stack: each names a stack.');
  return stack === undefined
    ? { stackName: stackNameOf(stage ?? 'dev'), options: `--stage ${stage ?? 'dev'}` }
    : { stackName: stack, options: `--stack ${stack}` };
}
