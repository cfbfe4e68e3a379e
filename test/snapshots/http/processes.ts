/** The two processes of a study over HTTP: the local run as `npm start` starts it, and the load in front of it. */

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../support/free-ports.ts';
import { launcher } from '../../support/process.ts';
import type { Order, Plan, Run, Sample } from './plan.ts';

export const keys = { app: 'key-of-the-app', other: 'key-of-another-app' } as const;

/** Further settings of the local run, as docs/configuration.md names them. */
export type Settings = Readonly<Record<string, string>>;

/** Starts both, carries the plan out against a local run that has just started, and ends both. */
export async function measure(plan: Plan, settings: Settings = {}): Promise<Run> {
  const load = await startLoad();
  try {
    const local = await startLocal(settings);
    try {
      const answered = once(load, 'message');
      load.send({ baseUrl: local.url, plan } satisfies Order);
      const ended = [local.process, load].map((child) => failOnExit(child));
      const [samples] = (await Promise.race([answered, ...ended])) as [readonly Sample[]];
      return { samples, thread: await timesOf(local.process) };
    } finally {
      await end(local.process);
    }
  } finally {
    await end(load);
  }
}

/** On Linux only. */
async function timesOf({ pid }: ChildProcess): Promise<Run['thread']> {
  const text = await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const [ranMs = 0, keptMs = 0] = text.split(' ').map((nanoseconds) => Number(nanoseconds) / 1e6);
  return { ranMs, keptMs };
}

async function startLoad(): Promise<ChildProcess> {
  const child = fork(fileOf('./load-process.ts'), { execArgv: ['--import', 'tsx'] });
  await Promise.race([once(child, 'message'), failOnExit(child)]);
  return child;
}

/** The environment is passed on, so that any setting of the local run can be studied. */
export async function startLocal(
  settings: Settings,
): Promise<{ readonly url: string; readonly process: ChildProcess }> {
  const child = spawn(process.execPath, [launcher, 'start'], {
    env: {
      ...process.env,
      ...{
        ...freePorts,
        API_KEY: keys.app,
        OTHER_API_KEYS: keys.other,
      },
      // Room for the load: what is studied is the upstream's limit, not the plan.
      PLAN: 'app',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Read to the end, though only the first lines count: a full pipe would stop the local run.
  const lines = createInterface({ input: child.stdout });
  const ready = new Promise<string>((resolve) => {
    let url = '';
    lines.on('line', (line) => {
      url ||= /^Countersign on (\S+)$/.exec(line)?.[1] ?? '';
      if (line === 'Ctrl-C ends it.') resolve(url);
    });
  });
  return { url: await Promise.race([ready, failOnExit(child)]), process: child };
}

async function failOnExit(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`${child.spawnfile} ${child.spawnargs.at(-1)} ended with ${code} in the middle`);
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
