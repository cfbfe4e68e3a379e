/**
 * The local run held to its own OpenAPI document by schemathesis: requests made from the document, good and
 * bad, and every answer looked up in it. Limits are raised: what is tested is the interface, not the plan.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { type Simulator, startSimulator } from '../../infra/simulator/index.ts';
import { openable } from '../../lib/catalogue/index.ts';
import { liveOperations } from '../../lib/catalogue/live.ts';
import { catalogueSize } from '../support/catalogue-size.ts';
import { orSkip } from '../support/missing.ts';

const here = import.meta.dirname;
const program = join(here, '.venv/bin/schemathesis');
const missing = existsSync(program)
  ? undefined
  : 'schemathesis is missing: python3 -m venv test/schemathesis/.venv && test/schemathesis/.venv/bin/pip install -r test/schemathesis/requirements.txt';

const isSnapshot = /\/market-data\/stock\/snapshots?$/;
const isStream = /\/stream$/;
/** Their limit stays what it is upstream: far fewer requests a minute than are sent here. */
const isInstrument = /\/instruments?\/(options?|stocks?)\//;

/** Statuses of each operation's answers, with how often each came. */
type Tally = Map<string, Map<number, number>>;

describe('schemathesis', orSkip(missing), () => {
  const work = mkdtempSync(join(tmpdir(), 'countersign-schemathesis-'));
  const apiKey = 'key-of-this-test';
  const tally: Tally = new Map();
  let simulator: Simulator | undefined;
  let run: Awaited<ReturnType<typeof startLocalRun>>;
  /** The document offers a token beside the key: a made-up one would be refused, and rightly. */
  let token: string;
  beforeAll(async () => {
    const credentials = { appKey: 'app-key', appSecret: 'app-secret' };
    const marketDataLimit = { requests: 100_000_000, perSeconds: 60 };
    // Every operation of the document is to answer 200, also one that the live upstream does not route.
    simulator = await startSimulator({
      ...credentials,
      limits: { 'market-data': marketDataLimit },
      unrouted: [],
    });
    run = await startLocalRun({
      port: 0,
      apiKey,
      openGroups: openable,
      credentials,
      upstream: { baseUrl: simulator.url },
      marketDataLimit,
      tradingLimits: {},
      tradeEvents: { isShown: false, url: `http://127.0.0.1:${simulator.events.port}` },
      // The shortest: a stream is read to its end.
      streamSeconds: 6,
    });
    const answer = await fetch(`${run.url}/issuer/token`, {
      method: 'POST',
      headers: { accept: 'text/plain' },
      body: new URLSearchParams({ grant_type: 'password', username: 'ada', expires_in: '3600' }),
    });
    token = (await answer.text()).trim();
    // Made at the first request, which takes longer than the tool waits on a busy machine.
    assert.equal((await fetch(`${run.url}/openapi.json`)).status, 200);
  });
  afterAll(async () => {
    await run?.close();
    await simulator?.close();
    rmSync(work, { recursive: true, force: true });
  });

  // Of requests of both kinds most are bad ones, so good ones are made besides; what is not random of them, the first run
  // has sent. Of 21 faults put into answers, some of them rare, the two find each; without the second, or with half of it,
  // the rarest stays unseen.
  for (const [mode, examples, phases] of [
    ['all', 10, 'examples,coverage,fuzzing'],
    ['positive', 40, 'fuzzing'],
  ] as const)
    test(`finds nothing outside the document, with ${mode === 'all' ? 'good and bad' : 'good'} requests`, async () => {
      const reports = join(work, mode);
      const { code, output } = await schemathesis(work, [
        '--config-file',
        join(here, 'schemathesis.toml'),
        'run',
        `${run.url}/openapi.json`,
        ...['--header', `x-api-key: ${apiKey}`],
        ...['--header', `Authorization: Bearer ${token}`],
        ...['--checks', 'all'],
        ...['--phases', phases],
        ...['--mode', mode],
        ...['--max-examples', String(examples)],
        ...['--seed', '1'],
        // Of the schemas of orders many examples are given up while they are made, which says nothing about the gateway.
        ...['--suppress-health-check', 'filter_too_much'],
        ...['--report', 'ndjson', '--report-dir', reports],
        // Beside other tests an answer may take its time; the tool's own limit is 10 s.
        ...['--request-timeout', '120'],
        '--continue-on-failure',
        '--no-color',
      ]);
      for (const file of readdirSync(reports)) await count(join(reports, file), tally);
      assert.equal(code, 0, output);
    });

  test('sent at least 5,000 requests to the exposed operations; each was reached, and none failed', () => {
    const total = (status: (code: number) => boolean) =>
      [...tally.values()].reduce(
        (sum, statuses) =>
          sum + [...statuses].reduce((own, [code, times]) => own + (status(code) ? times : 0), 0),
        0,
      );
    const [all, good] = [total(() => true), total((code) => code === 200)];
    console.log(`schemathesis: ${all} requests, ${((100 * good) / all).toFixed(1)} % answered 200`);
    assert.ok(all >= 5000, `${all} requests`);
    const failed = [...tally].filter(([, statuses]) => [...statuses.keys()].some((code) => code >= 500));
    // Of many symbols that do not exist it is not known yet which ones do not.
    for (const [operation, statuses] of failed) {
      assert.match(operation, isSnapshot);
      const times = [...statuses.values()].reduce((sum, own) => sum + own, 0);
      assert.deepEqual(
        [...statuses.keys()].filter((code) => code >= 500),
        [503],
      );
      assert.ok(statuses.get(503)! <= 0.1 * times, `${statuses.get(503)} of ${times}`);
    }
    const limited = [...tally].flatMap(([operation, statuses]) => (statuses.get(429) ? [operation] : []));
    // A caller that asks for so many symbols that do not exist is told so.
    assert.deepEqual(
      limited.filter((one) => ![isSnapshot, isStream, isInstrument].some((known) => known.test(one))),
      [],
    );
    assert.equal(tally.size, catalogueSize.exposed.operations + liveOperations.length);
    for (const [operation, statuses] of tally)
      assert.ok(statuses.get(200), `${operation} never answered 200`);
    assert.ok(good >= 0.3 * all, `${good} of ${all} answered 200`);
  });
});

/** It leaves files of its own where it runs. */
async function schemathesis(
  cwd: string,
  args: readonly string[],
): Promise<{ code: unknown; output: string }> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, SCHEMATHESIS_HOOKS: join(here, 'hooks.py') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const [code] = await once(child, 'close');
  return { code, output };
}

interface Line {
  readonly ScenarioFinished?: {
    readonly recorder: {
      readonly label: string;
      readonly interactions?: Readonly<
        Record<string, { readonly response: { readonly status_code: number } | null }>
      >;
    };
  };
}

async function count(file: string, tally: Tally): Promise<void> {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { recorder } = (JSON.parse(line) as Line).ScenarioFinished ?? {};
    if (!recorder) continue;
    for (const { response } of Object.values(recorder.interactions ?? {})) {
      assert.ok(response, `${recorder.label} was not answered`);
      const statuses = tally.get(recorder.label) ?? new Map<number, number>();
      statuses.set(response.status_code, (statuses.get(response.status_code) ?? 0) + 1);
      tally.set(recorder.label, statuses);
    }
  }
}
