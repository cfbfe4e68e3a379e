/** The command as a packed tarball has it: a launcher and its bundle, without sources and without packages beside them. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse as parseScript } from 'acorn';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, test } from 'vitest';
import { root } from '../../support/bundle.ts';
import { launcherIn, packCommand } from '../../support/command.ts';
import { freePorts } from '../../support/free-ports.ts';
import { judged, sourceLauncher } from '../../support/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-package-'));
const installed = launcherIn(folder);
let outputs: Metafile['outputs'];

beforeAll(async () => {
  ({ outputs } = await packCommand(folder));
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(words: readonly string[], options: readonly string[] = []) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...options, installed, ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...judged,
      HOME: folder,
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_REGION: 'eu-central-1',
      APP_KEY: 'k',
      APP_SECRET: 's',
    },
  });
  return { status, stdout, stderr };
}

test('package.json starts the command, and packs what it needs', () => {
  const { bin, files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.equal(join(root, bin.countersign), sourceLauncher);
  for (const file of ['dist/command', 'infra/commands/countersign.js']) assert.ok(files.includes(file), file);
  assert.ok(statSync(sourceLauncher).mode & 0o100);
});

test('commands run without a clone; what needs one says so, and what needs a peer names it', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.deepEqual(run(['--version']), { status: 0, stdout: `${version}\n`, stderr: '' });
  const signed = JSON.parse(run(['sign', 'https://a.example/a', '--json']).stdout);
  assert.equal(signed.headers['x-app-key'], 'k');
  assert.equal(run(['openapi', '--version', '3.0', '--out', 'openapi.json']).status, 0);
  assert.match(readFileSync(join(folder, 'openapi.json'), 'utf8'), /^\{\n {2}"openapi": "3\.0\./);
  assert.deepEqual(run(['users', 'list']), {
    status: 1,
    stdout: '',
    stderr: 'AWS credentials are missing: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.\n',
  });
  const prod = { upstream: { baseUrl: 'https://upstream.example', limits: 'interface' } };
  writeFileSync(join(folder, 'countersign.json'), JSON.stringify({ prod }));
  const { status, stderr } = run(['deploy', '--stage', 'prod']);
  assert.deepEqual([status, stderr.split('\n').length], [1, 2]);
  assert.match(
    stderr,
    /^countersign deploy needs the CDK, .*: run npm install aws-cdk aws-cdk-lib constructs\.\n$/,
  );
});

test('the local run starts, and its page names the package that shows it', async (t) => {
  const child = spawn(process.execPath, [installed, 'start', '--json'], {
    env: { PATH: process.env.PATH, ...freePorts },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { url, apiKey } = JSON.parse(line.toString());
  const page = await (await fetch(`${url}/docs`)).text();
  assert.match(page, /^This page needs Swagger UI: run npm install swagger-ui-dist/);
  const snapshot = `${url}/openapi/market-data/stock/snapshot?symbols=AAPL&category=US_STOCK`;
  assert.equal((await fetch(snapshot, { headers: { 'x-api-key': apiKey } })).status, 200);
});

test('a Node that is too old is told so in one line, and can read the file that says it', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const on = (node: string) => {
    const old = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${node}'}})`;
    return run(['--version'], ['--import', `data:text/javascript,${encodeURIComponent(old)}`]);
  };
  for (const node of ['18.20.4', '20.10.0'])
    assert.deepEqual(on(node), {
      status: 1,
      stdout: '',
      stderr: `Countersign needs Node ${engines.node.slice(2)} or later, and this is ${node}: install a newer one.\n`,
    });
  for (const node of ['20.11.0', '21.0.0', '100.0.0']) assert.equal(on(node).status, 0, node);
  const text = readFileSync(sourceLauncher, 'utf8');
  parseScript(text.replace(/^#!.*/, ''), { ecmaVersion: 2020, sourceType: 'module' });
  assert.doesNotMatch(text, /^import(?!.* from 'node:(fs|url)';$)/m);
});

/** What is loaded with a part, of our sources and of packages. */
function loadedWith(name: RegExp): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { path: next, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement') visit(next);
  };
  for (const path of Object.keys(outputs)) if (name.test(basename(path))) visit(path);
  return new Set([...seen].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {})));
}

test('the version and sign load little; no part holds the CDK', () => {
  for (const part of [/^main\.js$/, /^request-commands-/, /^requests-/]) {
    const inputs = [...loadedWith(part)];
    assert.ok(inputs.length > 3, `${part}`);
    const packages = inputs.filter((input) => /node_modules/.test(input) && !/\/commander\//.test(input));
    assert.deepEqual(packages, [], `${part}`);
  }
  const all = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  assert.ok(all.some((input) => input.includes('client-secrets-manager')));
  assert.ok(
    !all.some((input) =>
      /node_modules\/(aws-cdk|aws-cdk-lib|constructs|esbuild|swagger-ui-dist)\//.test(input),
    ),
  );
});
