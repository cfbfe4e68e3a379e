/** The packed package in projects of users: every example of its pages runs, in each way to find modules. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { APIGatewayClient, GetApiKeysCommand } from '@aws-sdk/client-api-gateway';
import { CloudFormationClient, ListStacksCommand } from '@aws-sdk/client-cloudformation';
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { startSimulator } from '../../infra/simulator/index.ts';
import { type Given, given, programOf, results } from '../docs/page-programs.ts';
import { blocksOf } from '../docs/pages.ts';
import { clientConfig, commandEnvironment, deploy } from '../emulator/deployment.ts';
import { root } from '../support/bundle.ts';
import { startMinistack, whatIsMissing } from '../support/ministack.ts';
import { orSkip } from '../support/missing.ts';
import { type Packed, pack } from './packed.ts';

const execute = promisify(execFile);
const types = join(import.meta.dirname, '../types/node_modules');
const tools = orSkip(
  existsSync(join(types, 'publint'))
    ? undefined
    : 'linters of packages are missing: npm ci --prefix test/types',
);

mkdirSync(join(import.meta.dirname, '.build'), { recursive: true });
// In the repository, where what the package needs besides is found.
const home = mkdtempSync(join(import.meta.dirname, '.build/user-'));
afterAll(() => rmSync(home, { recursive: true }));
let packed: Packed;
let signer: Packed;
beforeAll(() => {
  packed = pack(home);
  signer = pack(home, join(root, 'dist/countersign-signer'));
});

/** From the folder of a package, with a slash between. */
const filesOf = ({ folder }: Packed) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name));
const textIn = (one: Packed, path: string) => readFileSync(join(one.folder, path), 'utf8');

describe('what is packed', () => {
  test('no link of a page is dead', () => {
    const pages = filesOf(packed).filter((file) => file.endsWith('.md'));
    assert.ok(pages.length > 15);
    for (const page of pages)
      for (const [, target = ''] of readFileSync(page, 'utf8').matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g))
        if (!/^https?:/.test(target))
          assert.ok(existsSync(normalize(join(dirname(page), target))), `${page} links to ${target}`);
  });

  test('every import is declared', () => {
    const { dependencies, peerDependencies } = packed.manifest as Record<string, Record<string, string>>;
    const declared = Object.keys({ ...dependencies, ...peerDependencies });
    for (const file of filesOf(packed).filter((one) => /\.(js|d\.ts)$/.test(one)))
      for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(
        /^(?:import|export) .*from '([^.'][^']*)';$/gm,
      )) {
        const own = name.split('/').slice(0, name.startsWith('@') ? 2 : 1);
        const known = [own.join('/'), `@types/${own[0]}`].some((one) => declared.includes(one));
        assert.ok(known || name.startsWith('node:'), `${file} imports ${name}`);
      }
  });

  test('it says nothing of the machine that packed it', () => {
    for (const file of [...filesOf(packed), ...filesOf(signer)])
      assert.ok(!readFileSync(file, 'latin1').includes(root), file);
  });

  test('sizes', () => {
    const sizeOf = (one: Packed) => filesOf(one).reduce((sum, file) => sum + readFileSync(file).length, 0);
    console.log(`unpacked: countersign ${sizeOf(packed)}, countersign-signer ${sizeOf(signer)}`);
    assert.ok(sizeOf(signer) <= 56_000, `${sizeOf(signer)}`);
    assert.ok(sizeOf(packed) <= 9_600_000, `${sizeOf(packed)}`);
  });

  for (const name of ['countersign', 'countersign-signer'])
    test(`linters have nothing to say of ${name}, in any way to find modules`, tools, async () => {
      const { tarball } = name === 'countersign' ? packed : signer;
      const { stdout } = await execute(process.execPath, [join(types, '../lint.mjs'), tarball]);
      const { messages, problems, entrypoints } = JSON.parse(stdout) as Record<string, unknown[]>;
      assert.deepEqual([messages, problems], [[], []]);
      assert.ok((entrypoints?.length ?? 0) >= (name === 'countersign' ? 18 : 2));
    });
});

interface Way {
  readonly name: string;
  readonly type: 'module' | 'commonjs';
  readonly module: string;
  readonly moduleResolution: string;
}

const ways: readonly Way[] = [
  { name: 'ESM', type: 'module', module: 'nodenext', moduleResolution: 'nodenext' },
  { name: 'CommonJS', type: 'commonjs', module: 'node16', moduleResolution: 'node16' },
  { name: 'a bundler', type: 'module', module: 'esnext', moduleResolution: 'bundler' },
];

const newest = 'the newest TypeScript';
const compilers = [
  ['TypeScript 5.4', join(types, 'typescript-5.4/bin/tsc'), tools],
  [newest, join(root, 'node_modules/typescript/bin/tsc'), {}],
] as const;

const nameOf = (page: string) => page.replaceAll(/\W/g, '-');

interface Program {
  run(given: Given, console: object): Promise<Record<string, unknown>>;
}

/** Loads as Node does, and not as this test is loaded. */
const loadWith = (folder: string): ((file: string) => Promise<Program>) => {
  writeFileSync(join(folder, 'load.cjs'), 'exports.load = (file) => import(file);\n');
  return createRequire(import.meta.url)(join(folder, 'load.cjs')).load;
};

for (const [compiler, tsc, options] of compilers)
  for (const { name, type, module, moduleResolution } of ways)
    describe(`${compiler}, ${name}`, options, () => {
      const folder = join(home, `${nameOf(compiler)}-${nameOf(name)}`);
      beforeAll(async () => {
        mkdirSync(folder);
        writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }));
        for (const [page, { names }] of Object.entries(results))
          writeFileSync(join(folder, `${nameOf(page)}.ts`), programOf(page, names));
        const compilerOptions = {
          strict: true,
          noUncheckedIndexedAccess: true,
          target: 'es2022',
          lib: ['es2022', 'dom', 'dom.iterable'],
          types: ['node'],
          module,
          moduleResolution,
          // The newest compiler looks at declarations, too: an older one takes five times as long for it.
          skipLibCheck: compiler !== newest,
        };
        writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
        await execute(process.execPath, [tsc, '-p', folder]).catch(({ stdout }: { stdout: string }) => {
          throw new Error(stdout);
        });
        if (moduleResolution === 'bundler')
          await build({
            entryPoints: Object.keys(results).map((page) => join(folder, `${nameOf(page)}.js`)),
            outdir: folder,
            allowOverwrite: true,
            bundle: true,
            format: 'esm',
            platform: 'node',
            logLevel: 'error',
          });
      });

      for (const [page, { holds }] of Object.entries(results))
        test(`${page} runs`, async () => {
          const simulator = await startSimulator({ appKey: 'readme-key', appSecret: 'readme-secret' });
          const { run } = await loadWith(folder)(join(folder, `${nameOf(page)}.js`));
          const lines: string[] = [];
          const made = await run(given(simulator.url), { log: (line: string) => lines.push(line) });
          await holds({ ...made, lines } as never);
          await simulator.close();
        });
    });

/** Two handlers, and a whole app. */
const [handler = '', deployed = '', app = ''] = blocksOf('docs/embedding.md', 'js');

for (const [compiler, tsc, options] of compilers)
  test(`${compiler} takes handlers and an app, in CommonJS`, options, async () => {
    const folder = join(home, `${nameOf(compiler)}-apps`);
    mkdirSync(folder);
    for (const [name, text] of Object.entries({ handler, deployed, app }))
      writeFileSync(join(folder, `${name}.ts`), text);
    const compilerOptions = {
      noEmit: true,
      strict: true,
      target: 'es2022',
      types: ['node'],
      module: 'node16',
      moduleResolution: 'node16',
      skipLibCheck: true,
    };
    writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const said = await execute(process.execPath, [tsc, '-p', folder]).catch(
      ({ stdout }: { stdout: string }) => ({ stdout }),
    );
    assert.equal(said.stdout, '');
  });

/** @param program a file @returns the folder of the assembly */
async function synthesised(program: string, name: string): Promise<string> {
  const outdir = join(home, name);
  const env = { PATH: '', CDK_OUTDIR: outdir, CDK_VALIDATION: 'false', HOME: home };
  await execute(process.execPath, [program], { cwd: home, env });
  return outdir;
}

/** The same for `require`, as the CDK's own templates are written. */
const required = (program: string) =>
  program
    .replaceAll(/^import (\{.*\}) from ('.*');$/gm, 'const $1 = require($2);')
    .replaceAll('export const', 'exports.it =');

for (const [name, written, extension] of [
  ['imported', (text: string) => text, 'mjs'],
  ['required', required, 'cjs'],
] as const)
  describe(name, () => {
    const file = (base: string, text: string) => {
      const path = join(home, `${base}.${extension}`);
      writeFileSync(path, written(text));
      return path;
    };

    test('an app of ten lines synthesises, without a network and without a bundler', async () => {
      const outdir = await synthesised(file('app', app), `out-${extension}`);
      const { Resources } = JSON.parse(readFileSync(join(outdir, 'Broker.template.json'), 'utf8')) as {
        Resources: Record<string, { readonly Type: string }>;
      };
      const functions = Object.values(Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');
      assert.equal(functions.length, 4);
      assert.equal(readdirSync(outdir).filter((one) => one.endsWith('.zip')).length, 4);
    });

    test('handlers of one’s own load, and answer', async () => {
      const env = {
        PATH: '',
        AWS_REGION: 'eu-central-1',
        SECRET_ID: 's',
        UPSTREAM: 'https://api.example.com',
      };
      for (const [base, text] of Object.entries({ handler, deployed })) {
        const path = file(base, text);
        const call = `import(${JSON.stringify(path)}).then(async (loaded) => {
          const handler = loaded.handler ?? loaded.default.it;
          const event = { resource: '/nowhere', httpMethod: 'GET', headers: {}, requestContext: { requestId: 'r' }, body: null };
          console.log((await handler(event, { getRemainingTimeInMillis: () => 1000 })).statusCode);
        })`;
        const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', call], {
          cwd: home,
          env,
        });
        // Without its variables the deployed one says so in its log, and refuses.
        assert.equal(stdout.trim().split('\n').at(-1), base === 'handler' ? '404' : '500', stdout);
      }
    });
  });

test('outside the repository, with its dependencies alone, an app is tested against the simulator', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'stranger-'));
  t.onTestFinished(() => rmSync(folder, { recursive: true }));
  const modules = join(folder, 'node_modules');
  for (const name of Object.keys(packed.manifest.dependencies as object)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  await execute('tar', ['-xzf', packed.tarball, '-C', modules]);
  renameSync(join(modules, 'package'), join(modules, 'countersign'));
  copyFileSync(join(import.meta.dirname, 'stranger.mjs'), join(folder, 'app.test.mjs'));
  const args = ['--test', '--test-reporter=tap', 'app.test.mjs'];
  const { stdout } = await execute(process.execPath, args, { cwd: folder, env: { PATH: '' } });
  assert.match(stdout, /^# pass 3$/m);
});

test('deployed, the app answers', orSkip(whatIsMissing()), async (t) => {
  const [simulator, emulator] = await Promise.all([
    startSimulator({ appKey: 'readme-key', appSecret: 'readme-secret' }),
    startMinistack(),
  ]);
  t.onTestFinished(async () => void (await Promise.all([simulator.close(), emulator.stop()])));
  const program = join(home, 'deployed-app.mjs');
  writeFileSync(program, app.replace("'https://api.example.com'", `'${simulator.url}', allowLoopback: true`));
  const directory = await synthesised(program, 'out-deployed');
  const outputs = await deploy(emulator, { directory, stackName: 'Broker' });
  const SecretString = JSON.stringify({ app_key: 'readme-key', app_secret: 'readme-secret' });
  await new SecretsManagerClient(clientConfig(emulator)).send(
    new PutSecretValueCommand({ SecretId: outputs.SecretArn, SecretString }),
  );
  const { items = [] } = await new APIGatewayClient(clientConfig(emulator)).send(
    new GetApiKeysCommand({ includeValues: true }),
  );
  const [, restApiId] = /^https:\/\/([^.]+)\./.exec(outputs.Url ?? '') ?? [];
  const url = `${emulator.endpoint}/restapis/${restApiId}/v1/_user_request_`;
  const response = await fetch(`${url}/openapi/market-data/stock/snapshot?symbols=AAPL&category=US_STOCK`, {
    headers: { 'x-api-key': items[0]?.value ?? '' },
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.match(text, /"symbol":"AAPL"/);
  assert.ok((simulator.counts.ok ?? 0) > 0);
});

test('a stage is deployed and deleted by the packed command', orSkip(whatIsMissing()), async (t) => {
  const emulator = await startMinistack();
  t.onTestFinished(() => emulator.stop());
  // What the emulator does not take is off.
  const stage = { alarms: 'off', dashboard: 'off', cache: 'off', functions: { reservedConcurrency: 'none' } };
  const upstream = { baseUrl: 'https://upstream.example', limits: 'interface' };
  writeFileSync(join(home, 'countersign.json'), JSON.stringify({ prod: { upstream, ...stage } }));
  const env = { ...process.env, ...commandEnvironment(emulator), CI: 'true' };
  const run = (...args: readonly string[]) => execute(process.execPath, args, { cwd: home, env });
  const account = 'aws://000000000000/us-east-1';
  await run(createRequire(import.meta.url).resolve('aws-cdk/bin/cdk'), 'bootstrap', account);
  const command = join(packed.folder, 'infra/commands/countersign.js');
  await run(command, 'deploy', '--stage', 'prod', '--', '--require-approval', 'never');
  const stacks = async () => {
    const { StackSummaries = [] } = await new CloudFormationClient(clientConfig(emulator)).send(
      new ListStacksCommand({ StackStatusFilter: ['CREATE_COMPLETE'] }),
    );
    return StackSummaries.map(({ StackName }) => StackName);
  };
  assert.ok((await stacks()).includes('Countersign-prod'));
  await run(command, 'destroy', '--stage', 'prod', '--', '--force');
  assert.ok(!(await stacks()).includes('Countersign-prod'));
});

test('the signer alone is the same signer', async () => {
  const { createSigner } = createRequire(import.meta.url)(
    signer.folder,
  ) as typeof import('../../lib/signer/index.ts');
  const whole = createRequire(import.meta.url)(
    join(packed.folder, 'dist/lib/signer/index.cjs'),
  ) as typeof import('../../lib/signer/index.ts');
  const options = { appKey: 'k', appSecret: 's', nonce: () => 'n', clock: () => 0 };
  const input = { url: 'https://api.example.com/a', query: { b: 'c' } };
  assert.deepEqual(await createSigner(options).sign(input), await whole.createSigner(options).sign(input));
  assert.deepEqual(Object.keys(JSON.parse(textIn(signer, 'package.json')).exports), ['.', './package.json']);
  assert.equal((signer.manifest as { dependencies?: object }).dependencies, undefined);
});
