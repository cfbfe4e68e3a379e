/** The lines that README shows of `npm start`, pasted in their order into one shell, as a reader does. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { type TestContext, test } from 'vitest';
import { blocksOf } from '../docs/pages.ts';
import { root } from '../support/bundle.ts';
import { freePorts } from '../support/free-ports.ts';

/** A process of a group of its own: npm and a shell start others, which must end with them. */
function spawned(t: TestContext, command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(command, args, { cwd: root, env: { ...process.env, ...env }, detached: true });
  t.onTestFinished(() => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return {
    stdin: child.stdin,
    async until(pattern: RegExp): Promise<RegExpExecArray> {
      for (;;) {
        const found = pattern.exec(output);
        if (found) return found;
        if (child.exitCode !== null) assert.fail(`${command} ended with ${child.exitCode}:\n${output}`);
        await delay(20);
      }
    },
    output: () => output,
  };
}

/** As the page prints them, with the address and the key of the run. */
function linesFor(url: string, key: string): readonly string[] {
  const [shown = ''] = blocksOf('README.md', '').filter((block) => block.startsWith('Countersign on'));
  return shown
    .split('\n')
    .filter((line) => line.startsWith('  ') && line.includes('curl '))
    .map((line) => line.replaceAll(/\b[0-9a-f]{8}…/g, key).replaceAll('http://127.0.0.1:8787', url));
}

test('README: each line of npm start succeeds when it is pasted after the one before, and nothing stays set', async (t) => {
  const [first = ''] = blocksOf('README.md', 'sh');
  assert.equal(first.trim(), 'npm ci && npm start', 'the packages are here already');
  const run = spawned(t, 'npm', ['start'], { ...freePorts });
  const [, url = ''] = await run.until(/^Countersign on (\S+)$/m);
  const [, key = ''] = await run.until(/^API key of this run: (\S+)$/m);
  await run.until(/^Ctrl-C ends it/m);
  const lines = linesFor(url, key);
  assert.equal(lines.length, 12);
  const shell = spawned(t, 'bash', []);
  // A shell shows a refusal and goes on; here it is a failure.
  shell.stdin.write('set -o pipefail; curl() { command curl --fail-with-body "$@"; }\n');
  for (const [index, line] of lines.entries()) {
    shell.stdin.write(`${line}\necho; echo "line ${index}: $?"\n`);
    await shell.until(new RegExp(`^line ${index}: \\d+$`, 'm'));
  }
  // The stream that was put into the background ends by itself, once the order of the next line is filled.
  shell.stdin.end('wait; echo "all ended"\n');
  await shell.until(/^all ended$/m);
  const output = shell.output();
  const failed = [...output.matchAll(/^line (\d+): (?!0$)\d+$/gm)].map(([, index]) => lines[Number(index)]);
  assert.deepEqual(failed, [], output);
  assert.match(output, /"quotes":\[\{"symbol":"AAPL"/);
  assert.match(output, /"status":"FILLED"/);
  // Limits and the stop are undone: what was set last holds within five seconds.
  const order = lines[7] ?? '';
  assert.match(order, /place_order/);
  const again = spawned(t, 'bash', []);
  again.stdin.end(
    `${order.replaceAll('try-', 'again-')} -o /dev/null -s -w 'status %{http_code}' --retry 20 --retry-all-errors --retry-delay 1 --fail\n`,
  );
  await again.until(/status 200$/);
});
