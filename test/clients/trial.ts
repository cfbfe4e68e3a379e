/** One generator with one document: generated, compiled and run as its user would, and how far it came. */

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../support/bundle.ts';
import { type DocumentName, documentText } from './documents.ts';
import { type Command, type Generator, type Step, steps } from './generator.ts';
import { path } from './installs.ts';
import { apiKey, type Circumstance, circumstances, startUpstream } from './upstreams.ts';

/** Columns of the table, in the order in which they are reached. */
export const stages = ['generates', 'compiles', ...steps] as const;

export interface Trial {
  /** The first that was not reached in one of the circumstances; undefined where all went well. */
  readonly failedAt?: (typeof stages)[number];
  /** What was said of it. */
  readonly said?: string;
  readonly seconds: number;
}

/** Far above what a step takes: it ends what hangs. */
const timeout = 1_100_000;

/** Of the modules of an example, and of the client that is generated for it. */
const goPackages = ['example.com', 'github.com/GIT_USER_ID'];

/**
 * What runs for seconds is not worth being made fast. Generators and compilers on the JVM do not compile their own code a
 * second time: this halves the processor time of a client in Kotlin. Go optimises neither the example nor its client, and
 * its compiler seldom collects garbage: this saves a third of a client's build.
 */
const brief = {
  JDK_JAVA_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC',
  GOFLAGS: [...goPackages.map((name) => `'-gcflags=${name}/...=-N -l'`), '-ldflags=-s'].join(' '),
  GOGC: '400',
};

const execute = promisify(execFile);

interface Exit {
  readonly ok: boolean;
  readonly stdout: string;
  readonly said: string;
}

/** Of a program of an example. */
export function environmentWith(variables: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, VITEST: __, ...environment } = process.env;
  return { ...environment, PATH: path, ...brief, ...variables };
}

export async function exitOf(
  line: Command,
  cwd: string,
  variables: Readonly<Record<string, string>>,
): Promise<Exit> {
  const options = { cwd, timeout, maxBuffer: 2 ** 26, env: environmentWith(variables) };
  try {
    const { stdout, stderr } = await execute('sh', ['-c', line.replace(/^npx /, '')], options);
    return { ok: true, stdout, said: stderr };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { ok: false, stdout, said: `${line}\n${stdout}\n${stderr}\n${error}` };
  }
}

/** Put into the document, for a look at who notices. */
export interface Change {
  readonly name: string;
  readonly of: (text: string) => string;
}

export async function attempt(generator: Generator, document: DocumentName, change?: Change): Promise<Trial> {
  const start = Date.now();
  const ended = (rest: Omit<Trial, 'seconds'>): Trial => ({ ...rest, seconds: (Date.now() - start) / 1000 });
  const folder = folderOf(generator, [document, ...(change ? [change.name] : [])]);
  await generator.prepare?.(folder);
  const text = documentText(document);
  writeFileSync(join(folder, 'openapi.json'), change ? change.of(text) : text);
  for (const [stage, lines] of [
    ['generates', generator.generate],
    ['compiles', generator.check ? [generator.check] : generator.compile],
  ] as const)
    for (const line of lines) {
      const { ok, said } = await exitOf(line, folder, {});
      if (!ok) return ended({ failedAt: stage, said });
    }
  for (const circumstance of generator.check ? [] : circumstances) {
    const failure = await runOf(generator, folder, circumstance);
    if (failure) return ended(failure);
  }
  return ended({});
}

/** A copy of the example: what is generated is never committed. */
export function folderOf(
  { name, example }: Pick<Generator, 'name' | 'example'>,
  about: readonly string[] = [],
): string {
  const folder = join(import.meta.dirname, '.build', [name, ...about].join(', ').replaceAll(/[^\w.]+/g, '-'));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(root, example.includes('/') ? example : `docs/examples/${example}`), folder, {
    recursive: true,
  });
  return folder;
}

async function runOf(
  { run: line }: Generator,
  folder: string,
  circumstance: Circumstance,
): Promise<Omit<Trial, 'seconds'> | undefined> {
  const { simulator, run, close } = await startUpstream(circumstance);
  try {
    const variables = { GATEWAY_URL: run.url, ISSUER_URL: run.issuer, API_KEY: apiKey };
    const { ok, stdout, said } = await exitOf(line, folder, variables);
    const missed = firstMissed(stdout);
    const about = `${circumstance}:\n${stdout}\n${said}`;
    if (missed) return { failedAt: missed, said: about };
    if (!ok) return { failedAt: 'refusal ok', said: about };
    const orders = simulator.orders.map(({ order }) => order.quantity);
    // One order, and as its program wrote it.
    if (orders.join() !== '1.50') return { failedAt: 'order ok', said: `${about}\norders: ${orders.join()}` };
    return undefined;
  } finally {
    await close();
  }
}

/** Of the lines, which come in the order of the steps. */
function firstMissed(stdout: string): Step | undefined {
  const lines = stdout.split('\n');
  let at = 0;
  for (const step of steps) {
    const found = lines.findIndex((line, index) => index >= at && line.startsWith(step));
    if (found < 0) return step;
    at = found + 1;
  }
  return undefined;
}
