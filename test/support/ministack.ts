/** Starts the AWS emulator as a process of its own, in an environment that holds nothing of ours. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closedPort } from './closed-port.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Both are needed; the words say how to get what is missing. */
export const requirements = [
  {
    path: here('../emulator/.venv/bin/ministack'),
    missing:
      'The AWS emulator is missing: python3 -m venv test/emulator/.venv && test/emulator/.venv/bin/pip install -r test/emulator/requirements.txt',
  },
  {
    // Functions run there on the Node version that is deployed.
    path: here('../runtimes/node_modules/node24/bin/node'),
    missing: 'Node 24 is missing: npm ci --prefix test/runtimes',
  },
] as const;

/** In words what is missing, or undefined when the emulator can run. */
export const whatIsMissing = (): string | undefined =>
  requirements.find(({ path }) => !existsSync(path))?.missing;

export interface Ministack {
  readonly endpoint: string;
  readonly region: string;
  /** What it has printed so far: its own log and that of the functions. */
  output(): string;
  /** Forgets all that was made in it. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

export interface MinistackOptions {
  /** Added to its environment, for example `AUTH`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether functions are told the id of a request's API key, as API Gateway does and the emulator by itself does not. */
  readonly tellsKeys?: boolean;
}

export async function startMinistack({
  env = {},
  tellsKeys = false,
}: MinistackOptions = {}): Promise<Ministack> {
  const [{ path: binary }, { path: node }] = requirements;
  const home = mkdtempSync(join(tmpdir(), 'countersign-emulator-'));
  const port = await closedPort();
  const scheme = env.USE_SSL === '1' ? 'https' : 'http';
  const endpoint = `${scheme}://127.0.0.1:${port}`;
  const [command, ...args] =
    tellsKeys || env.AUTH
      ? [join(binary, '../python'), here('../emulator/ministack-with-keys.py')]
      : [binary];
  const child = spawn(command, args, {
    cwd: home,
    // It hands its environment to the functions, and its default bind is every interface.
    env: {
      PATH: [join(node, '..'), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
      HOME: home,
      TMPDIR: home,
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      IOT_MTLS_ENABLED: '0',
      SFTP_ENABLED: '0',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const stop = async () => {
    await end(child);
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await untilReady(`${endpoint}/_ministack/ready`, child);
  } catch (error) {
    await stop();
    throw new Error(`the emulator did not start: ${output}`, { cause: error });
  }
  const reset = async () => {
    const { ok, status } = await fetch(`${endpoint}/_ministack/reset`, { method: 'POST' });
    if (!ok) throw new Error(`the emulator answers ${status} to a reset`);
  };
  return { endpoint, region: 'us-east-1', output: () => output, reset, stop };
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), 3000);
  await once(child, 'exit');
  clearTimeout(patience);
}
