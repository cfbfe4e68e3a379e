/**
 * What every command says to a person who asks for help, types something wrong, has no credentials, or names a stage that is
 * not there: one line each, and the same exit code. what-is-said.md has the lines, to be read.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { table } from '../../../infra/commands/table.ts';
import { allCommands, wordsOf } from '../given.ts';
import { run, type Said } from '../run.ts';

const commands = await allCommands();
const folder = mkdtempSync(join(tmpdir(), 'countersign-said-'));
const before = process.cwd();

beforeAll(() => {
  // An operator's folder without a clone, and a machine without credentials.
  writeFileSync(
    join(folder, 'countersign.json'),
    JSON.stringify({ prod: { upstream: { baseUrl: 'https://upstream.example', limits: 'interface' } } }),
  );
  process.chdir(folder);
  for (const name of Object.keys(process.env))
    if (/^(AWS_|APP_|API_KEY|TOKEN|ACCESS_TOKEN|UPSTREAM_)/.test(name)) vi.stubEnv(name, undefined);
  vi.stubEnv('HOME', folder);
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  vi.stubEnv('AWS_REGION', 'eu-central-1');
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => {
  vi.unstubAllEnvs();
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

/** The arguments of the first example, which say something clear, and the stage that is there. */
function exampleOf(name: string): readonly string[] {
  const [example = ''] = commands.get(name)?.examples ?? [];
  const line = example.replace(/^.*countersign [a-z]+ ?/, '').replace(/ ?<.*$/, '');
  return [...name.split(' '), ...wordsOf(line)];
}

const isOneLine = (text: string) => /^[^\n]+\n$/.test(text);
const needsAws = [...commands.keys()].filter((name) => 'stage' in (commands.get(name)?.options ?? {}));
/** Commands that a machine without credentials refuses, by what the table says that they need; `doctor` makes a finding of it. */
const needing = (needs: RegExp) =>
  [...commands.keys()].filter(
    (name) => name !== 'doctor' && needs.test(table[name.split(' ')[0] ?? '']?.needs ?? ''),
  );
const asksAws = [...needing(/AWS/), 'prove'];
const asksOthers = needing(/broker/);

const mistakes: readonly (readonly [what: string, (name: string) => readonly string[] | undefined])[] = [
  ['wrong option', (name) => [...exampleOf(name), '--colour']],
  ['secret as an argument', (name) => [...exampleOf(name), '--app-secret', 'canary-4711']],
  [
    'wrong stage',
    (name) => {
      if (!needsAws.includes(name)) return undefined;
      const words = exampleOf(name);
      const at = words.indexOf('--stage');
      const rest = at < 0 ? words : [...words.slice(0, at), ...words.slice(at + 2)];
      return [
        ...rest.slice(0, name.split(' ').length),
        '--stage',
        'canary-4711',
        ...rest.slice(name.split(' ').length),
      ];
    },
  ],
];

test('every command: what is said, in one line with exit code 2 or 1; no argument is repeated', async () => {
  /** With whom, by mistake, code and sentence. */
  const rows = new Map<string, string[]>();
  const row = (name: string, what: string, { code, err }: Said) => {
    assert.ok(isOneLine(err), `${name}, ${what}: ${JSON.stringify(err)}`);
    assert.ok(!err.includes('4711'), err);
    const line = `| ${what} | ${code} | ${err.trim().replace(`countersign ${name} --`, 'countersign … --')} |`;
    rows.set(line, [...(rows.get(line) ?? []), name]);
  };
  for (const name of commands.keys()) {
    const help = await run([...name.split(' '), '--help']);
    assert.deepEqual([help.code, help.err], [0, ''], name);
    assert.match(
      help.out,
      new RegExp(`^Usage: countersign ${name} .*For example:\n.*countersign ${name}`, 's'),
    );
    for (const [what, wordsFor] of mistakes) {
      const words = wordsFor(name);
      if (!words) continue;
      const said = await run(words);
      assert.deepEqual([said.code, said.out], [2, ''], `${name}, ${what}: ${said.err}`);
      row(name, what, said);
    }
    if (!asksAws.includes(name) && !asksOthers.includes(name)) continue;
    const words = exampleOf(name).map((word, at, all) => (all[at - 1] === '--stage' ? 'prod' : word));
    const secret = Readable.from(['{"app_key":"k","app_secret":"canary-4711"}']);
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(secret as typeof process.stdin);
    const said = await run(words);
    assert.deepEqual([said.code, said.out], [1, ''], `${name}: ${said.out}`);
    if (asksAws.includes(name)) assert.match(said.err, /^AWS credentials are missing: set /, name);
    row(name, 'no credentials', said);
  }
  const { code, out, err } = await run(['doctor', '--stage', 'prod']);
  assert.deepEqual([code, err], [1, '']);
  assert.match(out, /^well {5}Node [^\n]*\nfault {4}AWS credentials are missing: [^\n]*\n$/);
  const head = '| Mistake | Exit code | What is said | By |\n|---|---|---|---|';
  const lines = [...rows].map(
    ([line, names]) => `${line} ${names.length === commands.size ? 'all' : names.join(', ')} |`,
  );
  await expect(`${[head, ...lines].join('\n')}\n`).toMatchFileSnapshot('what-is-said.md');
});
