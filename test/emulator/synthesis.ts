/** Starts the synthesiser for the files of a run, and asks it. What runs without it synthesises in its own process. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { whatIsMissing } from '../support/ministack.ts';
import type { StageProps } from './assembly.ts';
import type { Assembly } from './deployment.ts';

const variable = 'SYNTHESISER_PORT';

/** Before the first file. @returns what ends it, after the last one */
export async function setup(): Promise<() => Promise<void>> {
  if (whatIsMissing()) return async () => {};
  const home = mkdtempSync(join(tmpdir(), 'countersign-synthesiser-'));
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'synthesiser.ts'), home],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  const [port] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer | number];
  if (!(port instanceof Buffer)) throw new Error(`the synthesiser did not start, and ended with ${port}`);
  process.env[variable] = port.toString().trim();
  return async () => {
    child.kill();
    await ended;
    rmSync(home, { recursive: true, force: true });
  };
}

/** @param home a folder of the caller, for what is synthesised in this process */
export async function synthesised(home: string, stackName: string, props: StageProps): Promise<Assembly> {
  const port = process.env[variable];
  if (!port) return (await import('./assembly.ts')).assemble(home, stackName, props);
  // Not `fetch`, which waits five minutes at most.
  const sent = request({ host: '127.0.0.1', port, method: 'POST' });
  sent.end(JSON.stringify({ stackName, props }, onlyData));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const answered = await text(response);
  if (response.statusCode !== 200) throw new Error(answered);
  return JSON.parse(answered) as Assembly;
}

function onlyData(name: string, value: unknown): unknown {
  if (typeof value === 'function')
    throw new Error(`${name} is a function: another process cannot be told it`);
  return value;
}
