/** What is true of every page: whom it is for, where its links go, and that its commands exist. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, test } from 'vitest';
import { limitsArguments } from '../../infra/commands/limits.ts';
import { openApiArguments } from '../../infra/commands/open-api.ts';
import { ordersArguments } from '../../infra/commands/orders-arguments.ts';
import { preflightArguments } from '../../infra/commands/preflight.ts';
import { stackNameFrom } from '../../infra/commands/secret-set.ts';
import { tradingArguments } from '../../infra/commands/trading-arguments.ts';
import { usersArguments } from '../../infra/commands/users-arguments.ts';
import { readUpstreamFaults } from '../../infra/simulator/faults-variable.ts';
import { stageOf } from '../../infra/stack/stages.ts';
import { benches } from '../bench/benches.ts';
import { root } from '../support/bundle.ts';
import { anchorsOf, codesIn, commandsOf, docs, pages, textOf } from './pages.ts';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
};
/** Without what other tests install and build meanwhile. */
const testFiles = readdirSync(join(root, 'test'), { withFileTypes: true }).flatMap((one) =>
  one.isDirectory()
    ? readdirSync(join(root, 'test', one.name)).map((name) => `${one.name}/${name}`)
    : [one.name],
);
const studies = [
  ...readFileSync(join(root, 'test/study.ts'), 'utf8').matchAll(/^ {2}'?([\w-]+)'?: study\w+,$/gm),
].map(([, name = '']) => name);

const stageIn = ([stage]: readonly string[]) => stageOf(stage?.startsWith('-') ? undefined : stage);

/** What follows `--` of a script, as the script itself reads it. */
const argumentsOf: Readonly<Record<string, (args: readonly string[]) => unknown>> = {
  preflight: preflightArguments,
  openapi: openApiArguments,
  deploy: stageIn,
  destroy: stageIn,
  'secret:set': stackNameFrom,
  token: stackNameFrom,
  users: usersArguments,
  orders: (args) => ordersArguments(args),
  trading: tradingArguments,
  limits: limitsArguments,
  study: ([name]) => assert.ok(name === undefined || studies.includes(name), `no study ${name}`),
  bench: (parts) => {
    for (const part of parts)
      assert.ok(
        Object.keys(benches).some((name) => name.includes(part)),
        part,
      );
  },
  smoke: ([url = '"$API_URL"', ...rest]) => assert.deepEqual([url, ...rest], ['"$API_URL"']),
};

/**
 * Of the test emulator, where `lookup-examples.test.ts` runs the first four as they are printed, and `trading-stop.test.ts`
 * the last four.
 */
const awsCommands = [
  'events put-events',
  'scheduler create-schedule',
  'sqs receive-message',
  'events start-replay',
  'sqs start-message-move-task',
  'apigateway get-api-key',
  'cloudformation list-stack-resources',
  'logs put-metric-filter',
  'cloudwatch put-metric-alarm',
  'cloudwatch set-alarm-state',
];

const file = (path: string) => assert.ok(existsSync(join(root, path)), `${path} is not there`);

/** @throws for what does not exist, and for a command of a kind that nothing here can check */
function check(command: string): void {
  const plain = command
    .replace(/^(?:API_KEY|LOGS)=\$\((.*)\)\s*/, (_, inner: string) => {
      check(inner);
      return '';
    })
    .replace(/^UPSTREAM_FAULTS=(\S+)\s+/, (_, UPSTREAM_FAULTS: string) => {
      readUpstreamFaults({ UPSTREAM_FAULTS });
      return '';
    })
    .replace(/\s+<\s+\S+$/, '');
  const [program, verb = '', ...rest] = plain.split(/\s+/);
  // All of it was in the brackets, or it only sets a variable.
  if (plain === '' || /^[A-Z_]+='.*'$/.test(plain) || program === 'curl') return;
  if (program === 'aws') assert.ok(awsCommands.includes(`${verb} ${rest[0]}`), plain);
  else if (program === 'npx' && verb === 'vitest') for (const path of pathsIn(rest)) file(path);
  else if (program === 'npx') file(`node_modules/.bin/${verb}`);
  else if (program === 'npm' && verb === 'ci')
    file(join(rest[0] === '--prefix' ? rest[1]! : '.', 'package.json'));
  else if (program === 'npm') checkNpm(verb, rest);
  else if (program === 'python3') assert.deepEqual([verb, rest[0]], ['-m', 'venv']);
  else if (program?.endsWith('/pip')) file(rest.at(-1)!);
  else assert.fail(`nothing checks ${command}`);
}

const pathsIn = (args: readonly string[]) => args.filter((arg) => arg.includes('/'));

function checkNpm(verb: string, rest: readonly string[]): void {
  const script = verb === 'run' ? rest.find((word) => !word.startsWith('-'))! : verb;
  assert.ok(scripts[script], `npm run ${script}`);
  const at = rest.indexOf('--');
  const args = at < 0 ? [] : rest.slice(at + 1);
  if (script.startsWith('test'))
    for (const filter of args.filter((arg) => !arg.startsWith('-')))
      assert.ok(
        testFiles.some((name) => name.includes(filter)),
        `no test file has ${filter} in its path`,
      );
  else if (argumentsOf[script]) argumentsOf[script](args);
  else assert.deepEqual(args, [], `nothing checks what follows npm run ${script}`);
}

test('the README has at most 200 lines', () => {
  assert.ok(textOf('README.md').split('\n').length <= 200);
});

test('every page in docs says first for whom it is', () => {
  for (const page of docs) assert.match(textOf(page), /^# .+\n\nFor [^.]+[.:]/, page);
});

test('the README links to every page', () => {
  for (const page of pages)
    if (page !== 'README.md') assert.ok(textOf('README.md').includes(`](${page})`), page);
});

for (const page of pages)
  describe(page, () => {
    test('names commands that exist, with arguments that they take', () => {
      for (const command of commandsOf(page)) check(command);
    });

    test('links to files and headings that are there', () => {
      for (const [, target = ''] of textOf(page).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(target)) continue;
        const [path = '', anchor] = target.split('#');
        const linked = path === '' ? page : normalize(join(dirname(page), path));
        file(linked);
        if (anchor !== undefined) assert.ok(anchorsOf(linked).has(anchor), `${target} is no heading`);
      }
    });

    test('names files and folders that are there', () => {
      for (const code of codesIn(textOf(page)))
        if (/^(lib|functions|infra|test|docs)\/[\w./-]+$/.test(code)) file(code);
    });
  });

test('imports on the pages are entries of the package, and docs/library.md has every entry', () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Readonly<Record<string, unknown>>;
  };
  for (const page of pages)
    for (const [, name = ''] of textOf(page).matchAll(/\bcountersign\/(\w+)[`']/g))
      file(`lib/${name}/index.ts`);
  for (const entry of Object.keys(exports).filter((one) => /^\.\/\w+$/.test(one)))
    assert.ok(textOf('docs/library.md').includes(`| \`countersign${entry.slice(1)}\` |`), entry);
});

test('the check finds commands, and is not satisfied by any', () => {
  assert.ok(commandsOf('README.md').length > 8);
  assert.throws(() => check('npm run nothing'));
  assert.throws(() => check('npm run study -- nothing'));
  assert.throws(() => check('npm run preflight -- nowhere'));
  assert.throws(() => check('rm -rf x'));
});
