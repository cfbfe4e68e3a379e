/** Environment variables and the end of the programs that run on this machine. */

import { randomBytes } from 'node:crypto';
import { type UpstreamLimits, upstreamLimitsFault } from '../lib/catalogue/limits.ts';
import { isTaken } from './listen.ts';
import { editsBetween, nearestName } from './nearest-name.ts';

/** Wrong configuration, or a machine that cannot run this: one line per mistake for a person, without a stack trace. */
export class StartError extends Error {}

export type Variables = Readonly<Record<string, string | undefined>>;

export function readPort(env: Variables, name: string, otherwise: number): number {
  const text = env[name];
  if (!text) return otherwise;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new StartError(`${name} must be a port number from 0 to 65535, not ${JSON.stringify(text)}.`);
  return port;
}

export function choiceIn<const C extends string>(name: string, text: string, choices: readonly C[]): C {
  const choice = choices.find((one) => one === text);
  if (choice) return choice;
  const all = choices.join(', ').replace(/, (?=[^,]*$)/, ' or ');
  throw new StartError(`${name} must be ${all}, not ${JSON.stringify(text)}.`);
}

/** Port of the simulator's market-data stream; undefined if it is turned off. */
export function readMarketStreamPort(env: Variables): number | undefined {
  const { MARKET_STREAM: choice } = env;
  const isOff = choice ? choiceIn('MARKET_STREAM', choice, ['on', 'off']) === 'off' : false;
  const port = readPort(env, 'MARKET_STREAM_PORT', 8790);
  return isOff ? undefined : port;
}

/** Reads the upstream's limits: a preset's name, or JSON with figures by kind of endpoint. */
export function readUpstreamLimits(env: Variables): UpstreamLimits | undefined {
  const text = env.UPSTREAM_LIMITS;
  if (!text) return undefined;
  let limits: unknown = text;
  if (text.startsWith('{'))
    try {
      limits = JSON.parse(text);
    } catch {
      // Handled by the check below: the text is no preset.
    }
  const fault = upstreamLimitsFault(limits);
  if (fault) throw new StartError(`UPSTREAM_LIMITS: ${fault}.`);
  return limits as UpstreamLimits;
}

/**
 * Says in one sentence that two servers of this machine have the same port; 0 stands for any free one.
 *
 * @param ports by the variable that sets each
 */
export function samePortFault(ports: Readonly<Record<string, number>>): string | undefined {
  for (const [name, port] of Object.entries(ports)) {
    const names = Object.keys(ports).filter((one) => port !== 0 && ports[one] === port);
    if (names.length > 1 && names[0] === name)
      return `${names.join(', ').replace(/, (?=[^,]*$)/, ' and ')} are ${names.length > 2 ? 'all' : 'both'} ${port}: each server needs a port of its own.`;
  }
  return undefined;
}

/** Prefix that only variables of this project have, as far as is known. */
const ownPrefix = 'UPSTREAM_';

/** Edits that still count as a misspelling; of a short name, which resembles others by chance, only swapped letters do. */
const misspeltTolerance = (letters: number) => (letters < 6 ? 0 : letters < 10 ? 1 : 2);

const isSwapped = (one: string, other: string) =>
  editsBetween(one, other) === 1 && [...one].sort().join() === [...other].sort().join();

/** Tells whether a name lacks words of another: `UPSTREAM_URL` for `UPSTREAM_BASE_URL`. */
const lacksWords = (one: string, other: string) =>
  one.startsWith(ownPrefix) && one.split('_').every((word) => other.split('_').includes(word));

/**
 * Reports each variable whose name is nearly one that the program reads and that is not set, or that has the project's
 * prefix. Other variables are ignored: an environment has dozens.
 *
 * @param read reads all variables of the program from an environment
 */
export function misspeltNames(env: Variables, read: (env: Variables) => unknown): readonly string[] {
  const known = namesRead(read);
  const unset = known.filter((name) => !env[name]);
  return Object.keys(env).flatMap((name) => {
    if (!env[name] || known.includes(name)) return [];
    const meant =
      unset.find((one) => isSwapped(name, one)) ??
      nearestName(name, unset, misspeltTolerance) ??
      unset.find((one) => lacksWords(name, one));
    const sentence = `${name} is set, and nothing here reads it.`;
    if (meant !== undefined) return [`${sentence} Did you mean ${meant}?`];
    return name.startsWith(ownPrefix) ? [sentence] : [];
  });
}

/** Records the names that `read` asks for, with an empty environment. */
function namesRead(read: (env: Variables) => unknown): readonly string[] {
  const names = new Set<string>();
  const recorder: ProxyHandler<Record<string, string | undefined>> = {
    get(_, name) {
      names.add(String(name));
      return undefined;
    },
  };
  read(new Proxy({}, recorder));
  return [...names];
}

export interface AppCredentials {
  readonly appKey: string;
  readonly appSecret: string;
}

/** Reads both or neither. */
export function readAppCredentials(env: Variables): AppCredentials | undefined {
  const { APP_KEY: appKey, APP_SECRET: appSecret } = env;
  if (appKey && appSecret) {
    // A header carries the key: with another character every call would be refused, long after the start.
    if (!/^[!-~]+$/.test(appKey))
      throw new StartError('APP_KEY must be visible ASCII characters without spaces.');
    return { appKey, appSecret };
  }
  if (!appKey && !appSecret) return undefined;
  const [present, absent] = appKey ? ['APP_KEY', 'APP_SECRET'] : ['APP_SECRET', 'APP_KEY'];
  throw new StartError(`${present} is set but ${absent} is not: set both or neither.`);
}

/** Invents a pair for one run, as long as real ones. */
export const inventAppCredentials = (): AppCredentials => ({
  appKey: randomBytes(16).toString('hex'),
  appSecret: randomBytes(16).toString('hex'),
});

/** Waits until all servers listen; otherwise fails with one line that names the variables of all ports in use. */
export async function listening<T>(start: Promise<T>, ports: Readonly<Record<string, number>>): Promise<T> {
  try {
    return await start;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'port' in error)) throw error;
    const { code, port } = error;
    const [variable] = Object.entries(ports).find(([, one]) => one === port) ?? [];
    if (variable !== undefined && code === 'EADDRINUSE')
      throw new StartError(await takenSentence(variable, ports));
    if (variable !== undefined && code === 'EACCES')
      throw new StartError(`Port ${port} may not be opened by this user: set ${variable} to another.`);
    throw error;
  }
}

/** @param first variable whose port is known to be in use */
async function takenSentence(first: string, ports: Readonly<Record<string, number>>): Promise<string> {
  const takenNames: string[] = [];
  for (const [name, port] of Object.entries(ports))
    if (name === first || (port !== 0 && (await isTaken(port)))) takenNames.push(name);
  if (takenNames.length === 1) return `Port ${ports[first]} is taken: set ${first} to another.`;
  const list = (words: readonly unknown[]) => words.join(', ').replace(/, (?=[^,]*$)/, ' and ');
  return `Ports ${list(takenNames.map((name) => ports[name]))} are taken, perhaps by another run: end it, or set ${list(takenNames)} to others.`;
}

interface Closable {
  close(): Promise<void>;
}

/** Runs until Ctrl-C, and ends with exit code 0. */
export async function runUntilInterrupted(start: () => Promise<readonly Closable[]>): Promise<void> {
  const starting = start();
  let stopping = false;
  const stop = async () => Promise.all((await starting).map((one) => one.close()));
  // A signal may come before the start is complete: the servers are then closed as soon as they have started. A failed
  // start rejects below. A terminal and npm both pass Ctrl-C on, so the second signal must not cut the end short.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (!stopping) void stop().catch(() => {});
      stopping = true;
    });
  await starting;
}
