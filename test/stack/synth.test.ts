/** `cdk synth` as a deployer runs it, bundles and all: offline, strict, and with secrets lying about. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, test } from 'vitest';
import { orSkip } from '../support/missing.ts';
import { judged } from '../support/process.ts';
import { synthesise } from './synthesise.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'countersign-synth-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const canary = 'canary-5b1e';

/** Every variable that may hold a credential on a deployer's machine, each with a value of its own. */
const canaries = Object.fromEntries(
  [
    'APP_KEY',
    'APP_SECRET',
    'ACCESS_TOKEN',
    'API_KEY',
    'SECRET',
    'SECRET_STRING',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'NPM_TOKEN',
    'GITHUB_TOKEN',
  ].map((name) => [name, `${canary}-${name}`]),
);

/** Where nothing listens: every use of the network is refused. */
const nowhere = 'http://127.0.0.1:9';

const environment = {
  ...judged,
  // The CLI keeps notes at home, and reads profiles there.
  HOME: work,
  HTTP_PROXY: nowhere,
  HTTPS_PROXY: nowhere,
  http_proxy: nowhere,
  https_proxy: nowhere,
  ...canaries,
};

const assembly = join(work, 'cdk.out');
const cdk = join(root, 'node_modules/aws-cdk/bin/cdk');
const synth = run(process.execPath, [cdk, 'synth', '--strict', '--quiet', '--output', assembly], {
  cwd: root,
  env: environment,
});
// Each test awaits it; until the first does, a failure must not end the process.
synth.catch(() => undefined);

test('cdk synth --strict passes offline', async () => {
  const { stdout, stderr } = await synth;
  assert.doesNotMatch(`${stdout}${stderr}`, /\bERROR\b|\[(Warning|Error) at/);
  assert.ok(existsSync(join(assembly, 'Countersign-dev.template.json')));
});

test('no credential of the environment is in the assembly, nor printed', async () => {
  const { stdout, stderr } = await synth;
  assert.ok(!`${stdout}${stderr}`.includes(canary), 'printed');
  const files = readdirSync(assembly, { recursive: true, encoding: 'utf8' })
    .map((name) => join(assembly, name))
    .filter((path) => statSync(path).isFile());
  assert.ok(
    files.some((path) => path.endsWith('index.mjs')),
    'with the bundles',
  );
  for (const path of files) assert.ok(!readFileSync(path).includes(canary), path);
});

test('the template names no account and no Region', async () => {
  await synth;
  const template = readFileSync(join(assembly, 'Countersign-dev.template.json'), 'utf8');
  assert.doesNotMatch(template, /\b\d{12}\b|\b(us|eu|ap|sa|ca|af|me|il)-[a-z]+-\d\b/);
});

test('a wrong stage is one line', async () => {
  const env = { ...environment, CDK_CONTEXT_JSON: JSON.stringify({ stage: 'nowhere' }) };
  await assert.rejects(run(process.execPath, ['--import', 'tsx', 'infra/app.ts'], { cwd: root, env }), {
    code: 1,
    stderr: 'stage must be one of dev, prod, prove, which stand in infra/stack/stages.ts.\n',
  });
});

const venv = 'test/emulator/.venv';
const cfnLint = join(root, venv, 'bin/cfn-lint');
const missing = `cfn-lint is missing: python3 -m venv ${venv} && ${venv}/bin/pip install -r test/emulator/requirements.txt`;

test('cfn-lint finds nothing', orSkip(existsSync(cfnLint) ? undefined : missing), async () => {
  await synth;
  const everything = join(work, 'everything.template.json');
  const { template } = synthesise({
    groups: { accounts: 'iam', orders: 'iam', watchlists: 'iam' },
    cors: { origins: ['https://a.example', 'capacitor://localhost'] },
    plans: {
      app: { tier: 'app' },
      partner: { ratePerSecond: 0.5, burst: 5, quota: { requests: 1000, per: 'day' } },
    },
    functions: { reservedConcurrency: { 'market-data': 500 } },
    cache: { snapshots: { staleAfterSeconds: 10 }, clients: { refreshesPerMinute: 5 } },
    logs: { access: 'set-account-role' },
    domain: { name: 'api.example.com', hostedZone: { id: 'Z0123456789ABCDEFGHIJ', name: 'example.com' } },
    onRemoval: 'retain',
    tradeEvents: { endpoint: 'events.example.com' },
    trading: { limits: 'none', stopOnAlarms: { names: ['orders-refused'], cancelOpen: true } },
    limiter: { share: 0.5, operationLimits: { trading: { requests: 10, perSeconds: 1, for: ['orders'] } } },
  });
  writeFileSync(everything, JSON.stringify(template));
  const templates = [join(assembly, 'Countersign-dev.template.json'), everything];
  // W3005: the library itself writes a DependsOn that a reference implies already.
  const { stdout } = await run(cfnLint, ['--ignore-checks', 'W3005', '--template', ...templates], {
    env: environment,
  });
  assert.equal(stdout, '');
});
