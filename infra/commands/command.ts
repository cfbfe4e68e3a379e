/**
 * Definition of a command: its options with the values that they accept, its examples, and the function that runs it.
 * Commander parses the arguments by it and writes the help.
 */

import { Argument, Command, CommanderError, Option } from 'commander';
import { StartError } from '../environment.ts';
import { didYouMean } from '../nearest-name.ts';
import type { Report } from './print.ts';

/** The command line is wrong, and nothing was done: exit code 2. */
export class UsageError extends StartError {}

/** Fails with one sentence on what is wrong with the command line; the caller adds where to find help. */
export function refuse(sentence: string): never {
  throw new UsageError(sentence);
}

/** Specification of one option or operand. */
interface OptionSpec<T> {
  readonly kind: 'flag' | 'value' | 'values' | 'operand' | 'operands';
  /** `<id>`, or `[id]` for an operand that may be left out. */
  readonly shape: string;
  readonly says: string;
  /** @throws UsageError whose message begins with a verb: `must be …`, `takes …` */
  readonly read: (text: string) => unknown;
  /** Text that is read when the option is absent; the help shows it. */
  readonly otherwise?: string | undefined;
  /** Carries the type of the option's value; never set. */
  readonly type?: T;
}

type CommandOptions = Readonly<Record<string, OptionSpec<unknown>>>;

export type GivenOptions<O extends CommandOptions> = {
  readonly [K in keyof O]: O[K] extends OptionSpec<infer T> ? T : never;
};

type ReadOption<T> = (text: string) => T;
const asItIs = (text: string) => text;

export const flag = (says: string): OptionSpec<boolean> => ({ kind: 'flag', shape: '', says, read: asItIs });

export function value(shape: string, says: string): OptionSpec<string | undefined>;
export function value<T>(shape: string, says: string, read: ReadOption<T>): OptionSpec<T | undefined>;
export function value<T>(shape: string, says: string, read: ReadOption<T>, otherwise: string): OptionSpec<T>;
export function value(
  shape: string,
  says: string,
  read: ReadOption<unknown> = asItIs,
  otherwise?: string,
): OptionSpec<unknown> {
  return { kind: 'value', shape, says, read, otherwise };
}

type OptionParts<T> = readonly [shape: string, says: string, read: ReadOption<T>];
const specOf = (kind: OptionSpec<never>['kind'], [shape, says, read]: OptionParts<unknown>) => ({
  kind,
  shape,
  says,
  read,
});

/** Option that may be given any number of times. */
export const values = <T>(...given: OptionParts<T>): OptionSpec<readonly T[]> => specOf('values', given);
export const operand = <T>(...given: OptionParts<T>): OptionSpec<T> => specOf('operand', given);
export const operands = <T>(...given: OptionParts<T>): OptionSpec<readonly T[]> => specOf('operands', given);

/** A command whose options' types are known to its own `run` alone. */
export interface AnyCommand {
  readonly options: CommandOptions;
  /** Arguments that follow the command's name, or a whole command line; the usual one first. */
  readonly examples: readonly string[];
  /** Further lines of the help. */
  readonly more?: string;
  check(given: Readonly<Record<string, unknown>>): unknown;
  run(given: unknown): Promise<Report | number | undefined>;
}

interface CommandDefinition<O extends CommandOptions, A> extends Pick<AnyCommand, 'examples' | 'more'> {
  readonly options: O;
  /**
   * Checks options against each other, before another machine is asked.
   *
   * @throws UsageError
   */
  readonly check?: (given: GivenOptions<O>) => A | Promise<A>;
  /** @returns what to print, or the exit code of a command that prints by itself; absent: 0 */
  readonly run: (given: A) => Promise<Report> | Promise<number> | Promise<void>;
}

export function command<const O extends CommandOptions, A = GivenOptions<O>>(
  definition: CommandDefinition<O, A>,
): AnyCommand {
  const { check = (given: GivenOptions<O>) => given as A, run } = definition;
  return {
    ...definition,
    check: (given) => check(given as GivenOptions<O>),
    run: async (given) => (await run(given as A)) ?? undefined,
  };
}

/** Commands under one name, each with a phrase on what it does. */
export type CommandGroup = Readonly<Record<string, readonly [says: string, command: AnyCommand]>>;

/**
 * Phrase on what a command does, and its loader. Only the command that runs is loaded: AWS's clients alone take up to a second.
 */
export interface CommandEntry {
  /** Heading under which the help lists the command. */
  readonly needs: string;
  readonly says: string;
  readonly load: () => Promise<AnyCommand | CommandGroup>;
}

export type Table = Readonly<Record<string, CommandEntry>>;

type ParsedCommand =
  | { readonly name: string; readonly given: unknown; readonly run: AnyCommand['run'] }
  /** Text of the help or of the version; an error when a command is missing. */
  | { readonly text: string; readonly isError: boolean };

export const program = 'countersign';

export const isGroup = (one: AnyCommand | CommandGroup): one is CommandGroup => typeof one.run !== 'function';

/**
 * @returns the command to run, or the text to print; nothing has been done yet
 * @throws UsageError with one line
 */
export async function parse(argv: readonly string[], table: Table, version: string): Promise<ParsedCommand> {
  refuseSecrets(argv);
  // Without this, commander takes --version as the program's even where a command has an option of that name.
  const top = commanderOf(program)
    .enablePositionalOptions()
    .version(version, '-V, --version', 'shows the version');
  let parsed: ParsedCommand | undefined;
  const wantedName = argv[0] === 'help' ? argv[1] : argv[0];
  for (const [name, { needs, says, load }] of Object.entries(table)) {
    const path = `${program} ${name}`;
    const loaded = name === wantedName ? await load() : undefined;
    const one = loaded
      ? isGroup(loaded)
        ? groupOf(path, loaded, (found) => (parsed = found))
        : commandOf(path, loaded, (found) => (parsed = found))
      : commanderOf(path);
    top.addCommand(one.description(says).helpGroup(`${needs}:`));
  }
  let text = '';
  let at = top;
  const write = (line: string) => {
    text += line;
  };
  for (const one of allOf(top))
    one.configureOutput({ writeOut: write, writeErr: write, outputError: () => {} });
  try {
    await top.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    at = deepestCommand(top, argv);
    const help = `${[...pathOf(at)].join(' ')} --help`;
    if (error instanceof UsageError) throw new UsageError(`${error.message} ${help} says more.`);
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { text, isError: false };
    if (error.code === 'commander.help') return { text, isError: true };
    throw new UsageError(`${sentenceOf(error, at)} ${help} says more.`);
  }
  if (!parsed) throw new TypeError('nothing was parsed');
  return parsed;
}

/** Columns of the help. */
const helpWidth = 100;

function commanderOf(path: string): Command {
  return new Command(path.split(' ').at(-1))
    .exitOverride()
    .helpOption('-h, --help', 'shows this help')
    .helpCommand('help [command]', 'shows the help of a command')
    .configureHelp({ helpWidth, showGlobalOptions: false });
}

const allOf = (one: Command): Command[] => [one, ...one.commands.flatMap(allOf)];

const pathOf = (one: Command): string[] => [...(one.parent ? pathOf(one.parent) : []), one.name()];

function deepestCommand(one: Command, [name, ...rest]: readonly string[]): Command {
  const found = one.commands.find((each) => each.name() === name);
  return found ? deepestCommand(found, rest) : one;
}

function groupOf(path: string, group: CommandGroup, found: (parsed: ParsedCommand) => void): Command {
  const top = commanderOf(path);
  for (const [name, [says, one]] of Object.entries(group))
    top.addCommand(commandOf(`${path} ${name}`, one, found).description(says));
  return top;
}

function commandOf(path: string, one: AnyCommand, found: (parsed: ParsedCommand) => void): Command {
  const parser = commanderOf(path);
  const names = Object.keys(one.options);
  for (const name of names) {
    const { kind, shape, says, otherwise } = one.options[name] as OptionSpec<unknown>;
    if (kind === 'operand' || kind === 'operands') parser.addArgument(new Argument(shape, says));
    else {
      const option = new Option(`${optionName(name)} ${shape}`.trim(), says);
      if (kind === 'values') option.argParser((text, before: readonly string[] = []) => [...before, text]);
      parser.addOption(otherwise === undefined ? option : option.default(otherwise));
    }
  }
  const examples = one.examples.map((example) => `  ${exampleLine(path, example)}`);
  parser.addHelpText(
    'after',
    ['', ...(one.more ? [one.more, ''] : []), 'For example:', ...examples].join('\n'),
  );
  return parser.action(async () => {
    const args = await one.check(givenOf(one.options, parser));
    found({ name: path.slice(program.length + 1), given: args, run: one.run });
  });
}

/** Full command line of an example; one that names the program is complete already. */
export const exampleLine = (path: string, example: string): string =>
  example.includes(`${program} `) ? example : `${path} ${example}`.trim();

const optionName = (name: string) => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function givenOf(options: CommandOptions, made: Command): Readonly<Record<string, unknown>> {
  const typed: Readonly<Record<string, unknown>> = made.opts();
  const words: readonly unknown[] = made.processedArgs;
  let next = 0;
  return Object.fromEntries(
    Object.entries(options).map(([name, { kind, shape, read }]) => {
      const text = kind === 'operand' || kind === 'operands' ? words[next++] : typed[name];
      if (kind === 'flag') return [name, text === true];
      const readOne = (each: string) =>
        readAs(kind === 'value' || kind === 'values' ? optionName(name) : shape, read, each);
      if (kind === 'values' || kind === 'operands')
        return [name, ((text ?? []) as readonly string[]).map(readOne)];
      return [name, text === undefined ? undefined : readOne(String(text))];
    }),
  );
}

function readAs(label: string, read: ReadOption<unknown>, text: string): unknown {
  try {
    return read(text);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${label} ${error.message}`) : error;
  }
}

/** Tells whether an error may repeat a wrong word: a longer one could be a misplaced secret. */
const isHarmless = (word: string) => /^[a-z][a-z-]{0,19}$/i.test(word);

function sentenceOf({ code, message }: CommanderError, at: Command): string {
  const [, quoted = ''] = /'([^']*)'/.exec(message) ?? [];
  const [word = ''] = quoted.split(/[= ]/);
  switch (code) {
    case 'commander.unknownOption':
      if (/secret|token|password|(app|api)-?key/i.test(word)) return noSecrets;
      return `There is no option ${isHarmless(word.replace(/^-+/, '')) ? word : 'of that name'}.${didYouMean(
        word.replace(/^-+/, ''),
        at.options.map(({ long }) => (long ?? '').slice(2)),
      )}`;
    case 'commander.optionMissingArgument':
      return `${word} takes a value.`;
    case 'commander.missingArgument':
      return `<${quoted}> is missing.`;
    case 'commander.unknownCommand': {
      const names = at.commands.map((one) => one.name());
      const unknown = isHarmless(word) ? `${JSON.stringify(word)} is no command.` : 'That is no command.';
      return `${unknown}${didYouMean(word, names) || ` The commands are ${names.join(', ')}.`}`;
    }
    case 'commander.excessArguments':
      return 'Options follow the command, and nothing besides: a stage is --stage NAME.';
    default:
      return `${message.replace(/^error: /, '').replaceAll('\n', ' ')}.`;
  }
}

const noSecrets =
  'A secret is never an argument, because other processes can read arguments: put it into the environment, a file or standard input.';

/** Runs before anything else looks at the arguments, so that no error repeats a secret. */
function refuseSecrets(argv: readonly string[]): void {
  if (
    argv.some((arg) =>
      /^--?(app[_-]?secret|secret|api[_-]?key|access[_-]?token|password)\b|"app_secret"/i.test(arg),
    )
  )
    throw new UsageError(`${noSecrets} ${program} --help says more.`);
}
