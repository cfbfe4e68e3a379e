/** What the programs that run on this machine read from the environment, and how they end. */

import { randomBytes } from 'node:crypto';
import { type UpstreamLimits, upstreamLimitsFault } from '../lib/catalogue/limits.ts';

/** Wrong configuration, or a machine that cannot run this: one line for a person, no stack. */
export class StartError extends Error {}

export type Environment = Readonly<Record<string, string | undefined>>;

export function readPort(env: Environment, name: string, otherwise: number): number {
  const text = env[name];
  if (!text) return otherwise;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new StartError(`${name} must be a port number from 0 to 65535, not ${JSON.stringify(text)}.`);
  return port;
}

/** What the upstream allows: a preset's name, or JSON with figures by kind of endpoint. */
export function readUpstreamLimits(env: Environment): UpstreamLimits | undefined {
  const text = env.UPSTREAM_LIMITS;
  if (!text) return undefined;
  let given: unknown = text;
  if (text.startsWith('{'))
    try {
      given = JSON.parse(text);
    } catch {
      // The check below covers it: the text is no preset.
    }
  const fault = upstreamLimitsFault(given);
  if (fault) throw new StartError(`UPSTREAM_LIMITS: ${fault}.`);
  return given as UpstreamLimits;
}

export interface AppCredentials {
  readonly appKey: string;
  readonly appSecret: string;
}

/** Both or neither. */
export function readAppCredentials(env: Environment): AppCredentials | undefined {
  const { APP_KEY: appKey, APP_SECRET: appSecret } = env;
  if (appKey && appSecret) {
    // Sent as a header: another would start well and then refuse every call.
    if (!/^[!-~]+$/.test(appKey))
      throw new StartError('APP_KEY must be visible ASCII characters without spaces.');
    return { appKey, appSecret };
  }
  if (!appKey && !appSecret) return undefined;
  const [given, absent] = appKey ? ['APP_KEY', 'APP_SECRET'] : ['APP_SECRET', 'APP_KEY'];
  throw new StartError(`${given} is set but ${absent} is not: set both or neither.`);
}

/** A pair for one run, in the length of real ones. */
export const inventAppCredentials = (): AppCredentials => ({
  appKey: randomBytes(16).toString('hex'),
  appSecret: randomBytes(16).toString('hex'),
});

/** Listens, or fails with one line that names the port which is taken. */
export async function listening<T>(start: Promise<T>, port: number, variable: string): Promise<T> {
  try {
    return await start;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
      throw new StartError(`Port ${port} is taken: set ${variable} to another.`);
    if (error instanceof Error && 'code' in error && error.code === 'EACCES')
      throw new StartError(`Port ${port} may not be opened by this user: set ${variable} to another.`);
    throw error;
  }
}

interface Running {
  close(): Promise<void>;
}

/** Starts, and ends on Ctrl-C with exit code 0; a StartError is one line and exit code 1. */
export async function runUntilInterrupted(start: () => Promise<readonly Running[]>): Promise<void> {
  const starting = start();
  let stopping = false;
  const stop = async () => Promise.all((await starting).map((one) => one.close()));
  // Before it has started, too: what was begun by then is closed as soon as it can be. A failure is printed below.
  // A terminal and npm both pass Ctrl-C on: the second one must not cut the end short.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (!stopping) void stop().catch(() => {});
      stopping = true;
    });
  try {
    await starting;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
