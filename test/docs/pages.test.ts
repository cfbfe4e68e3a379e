/** What is true of every page: whom it is for, where its links go, and that its commands exist. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, test } from 'vitest';
import { exampleLine, parse } from '../../infra/commands/command.ts';
import { table } from '../../infra/commands/table.ts';
import { commandPage } from '../../infra/documents/command-page.ts';
import { entries } from '../../infra/package/entries.ts';
import { readUpstreamFaults } from '../../infra/simulator/faults-variable.ts';
import { benches } from '../bench/benches.ts';
import { allCommands, wordsOf } from '../commands/given.ts';
import { root } from '../support/bundle.ts';
import { sourcesIn } from '../support/sources.ts';
import { anchorsOf, codesIn, commandsOf, docs, pages, textOf } from './pages.ts';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
};
const testFiles = [...sourcesIn('test')].map((file) => relative('test', file));
const studies = [
  ...readFileSync(join(root, 'test/study.ts'), 'utf8').matchAll(/^ {2}'?([\w-]+)'?: async \(\) => /gm),
].map(([, name = '']) => name);

/** As the command itself reads them. A bare name, in a sentence, names the command alone. */
async function countersign(words: readonly string[]): Promise<void> {
  const names = new Set(['', ...Object.keys(table), ...(await allCommands()).keys()]);
  if (names.has(words.join(' '))) return;
  const given = words.map((word) => word.replace(/^\$[A-Z_]*URL$/, 'https://api.example'));
  await parse(given, table, '');
}

/** What follows `--` of a script, as the script itself reads it. */
const argumentsOf: Readonly<Record<string, (args: readonly string[]) => void>> = {
  'test:node': ([name]) =>
    assert.match(textOf('test/runtimes/package.json'), new RegExp(`"${name}": "npm:node@`)),
  study: ([name]) => assert.ok(name === undefined || studies.includes(name), `no study ${name}`),
  bench: (parts) => {
    for (const part of parts)
      assert.ok(
        Object.keys(benches).some((name) => name.includes(part)),
        part,
      );
  },
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
  'cloudformation describe-stacks',
  'cloudformation list-stack-resources',
  'logs put-metric-filter',
  'cloudwatch put-metric-alarm',
  'cloudwatch set-alarm-state',
];

const file = (path: string) => assert.ok(existsSync(join(root, path)), `${path} is not there`);

/** @throws for what does not exist, and for a command of a kind that nothing here can check */
async function check(command: string): Promise<void> {
  const [, inner] = /^(?:API_KEY|API_URL|LOGS|MASS_CANCEL|SETTLEMENT)=\$\((.*)\)/.exec(command) ?? [];
  if (inner !== undefined) await check(inner);
  const [, UPSTREAM_FAULTS] = /^UPSTREAM_FAULTS=(\S+)\s/.exec(command) ?? [];
  if (UPSTREAM_FAULTS !== undefined) readUpstreamFaults({ UPSTREAM_FAULTS });
  const plain = command
    .replace(/^(?:API_KEY|API_URL|LOGS|MASS_CANCEL|SETTLEMENT)=\$\(.*\)\s*/, '')
    .replace(/^(?:[A-Z_]+=\S+\s+)+/, '')
    .replace(/\s+<\s+\S+$/, '');
  const [program, verb = '', ...rest] = plain.split(/\s+/);
  // All of it was in the brackets, or it only sets a variable.
  if (plain === '' || /^[A-Z_]+='.*'$/.test(plain) || program === 'curl') return;
  if (program === 'aws') assert.ok(awsCommands.includes(`${verb} ${rest[0]}`), plain);
  else if (program === 'countersign' || (program === 'npx' && verb === 'countersign'))
    await countersign(wordsOf(plain.replace(/^(npx )?countersign ?/, '')));
  else if (program === 'npx' && verb === 'vitest') for (const path of pathsIn(rest)) file(path);
  else if (program === 'npx') file(`node_modules/.bin/${verb}`);
  else if (program === 'npm' && verb === 'ci')
    file(join(rest[0] === '--prefix' ? rest[1]! : '.', 'package.json'));
  else if (program === 'npm' && verb === 'install') assert.deepEqual(rest, ['countersign']);
  else if (program === 'npm' && verb === 'publish')
    assert.ok(['', 'dist/countersign-signer'].includes(rest.join(' ')), plain);
  else if (program === 'npm') await checkNpm(verb, rest, plain);
  else if (program === 'node') file(rest[1]!);
  else if (program === 'python3') assert.deepEqual([verb, rest[0]], ['-m', 'venv']);
  else if (program?.endsWith('/pip')) file(rest.at(-1)!);
  else assert.fail(`nothing checks ${command}`);
}

const pathsIn = (args: readonly string[]) => args.filter((arg) => arg.includes('/'));

async function checkNpm(verb: string, rest: readonly string[], plain: string): Promise<void> {
  const script = verb === 'run' ? rest.find((word) => !word.startsWith('-'))! : verb;
  assert.ok(scripts[script], `npm run ${script}`);
  const at = rest.indexOf('--');
  const args = at < 0 ? [] : rest.slice(at + 1);
  const [, own] = /countersign\.js ?(.*)$/.exec(scripts[script]) ?? [];
  if (own !== undefined)
    await countersign([...own.split(' ').filter(Boolean), ...wordsOf(plain.replace(/^.*?( -- |$)/, ''))]);
  else if (argumentsOf[script]) argumentsOf[script](args);
  else if (script.startsWith('test'))
    for (const filter of args.filter((arg) => !arg.startsWith('-')))
      assert.ok(
        testFiles.some((name) => name.includes(filter)),
        `no test file has ${filter} in its path`,
      );
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
    test('names commands that exist, with arguments that they take', async () => {
      for (const command of commandsOf(page)) await check(command);
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
  const names = entries().map(({ name }) => name);
  for (const page of pages)
    for (const [, name = ''] of textOf(page).matchAll(/\bcountersign\/([\w-]+)[`']/g))
      assert.ok(names.includes(`./${name}`), `${page}: countersign/${name}`);
  for (const name of names.filter((one) => one !== '.'))
    assert.ok(textOf('docs/library.md').includes(`| \`countersign${name.slice(1)}\` |`), name);
});

test('the check finds commands, and is not satisfied by any', async () => {
  assert.ok(commandsOf('README.md').length > 8);
  await assert.rejects(check('npm run nothing'));
  await assert.rejects(check('npm run study -- nothing'));
  await assert.rejects(check('npm run countersign -- preflight --stage nowhere'));
  await assert.rejects(check('npx countersign users grnat'));
  await assert.rejects(check('rm -rf x'));
});

test('no script of npm repeats a command, besides start', () => {
  const launching = Object.keys(scripts).filter((name) => scripts[name]?.includes('countersign.js'));
  assert.deepEqual(launching, ['start', 'countersign']);
});

test('docs/command.md is what the table makes, and every example of it parses', async () => {
  assert.equal(textOf('docs/command.md'), await commandPage());
  for (const [name, { examples }] of await allCommands())
    for (const example of examples) {
      await check(exampleLine(`countersign ${name}`, example));
      assert.ok(textOf('docs/command.md').includes(example), example);
    }
});

test('a pipeline uses actions by their hash, and installs packages before it may reach AWS', () => {
  const workflows = docs.flatMap((page) => [...textOf(page).matchAll(/```yaml\n([^`]*\bjobs:[^`]*)```/g)]);
  assert.ok(workflows.length > 0);
  for (const [, workflow = ''] of workflows) {
    for (const [, action = ''] of workflow.matchAll(/uses: (\S+)/g)) assert.match(action, /@[\da-f]{40}$/);
    for (const job of workflow.split(/^ {2}(?=\w+:$)/m).filter((one) => one.includes('id-token: write'))) {
      const [before, ...after] = job.split('configure-aws-credentials');
      assert.match(before ?? '', /npm ci --ignore-scripts/);
      assert.doesNotMatch(after.join(), /npm (ci|install)/);
    }
  }
});
