/**
 * Would a wrong wiring be seen? The deployed settlement was once built without the counting journal, and thousands of tests
 * passed. Each mutant wires the real compositions wrongly in such a way: it does not compile, or a scenario fails.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, test } from 'vitest';
import { workerNames, workerRows } from '../../../functions/rows.ts';
import { bundle, load, replaceIn, root } from '../../support/bundle.ts';
import { memoryPlatform } from '../memory-platform.ts';
import { limits, scenarios } from '../scenarios.ts';
import { type Compositions, startScene } from '../scene.ts';

interface Mutant {
  readonly wiring: string;
  /** In functions/compose. */
  readonly file: string;
  readonly find: string;
  readonly by: string;
}

/** Something is left out that the library has a default for. */
const leftOut: readonly Mutant[] = [
  {
    wiring: 'the settlement has no reads of orders',
    file: 'settlement',
    find: 'orders: composeOrderReads(settings, ports, secrets, maxReadWaitMs),',
    by: '',
  },
  {
    wiring: 'checks have no last prices',
    file: 'orders',
    find: '      lastPrices: prices?.stock,\n',
    by: '',
  },
  {
    wiring: 'checks have no quotes of options',
    file: 'orders',
    find: '      optionPrices: prices?.option,\n',
    by: '',
  },
  {
    wiring: 'a check has nowhere to ask for cancels',
    file: 'orders',
    find: 'massCancels: ports.massCancelRequests(guard.tableName),',
    by: '',
  },
  {
    wiring: 'no function goes over to tighter limits',
    file: 'gateway',
    find: 'tightening: limiter?.tightening,',
    by: '',
  },
  {
    wiring: 'a read of orders waits by a default of its own',
    file: 'holder',
    find: '{ gateway, clock, sleep, maxWaitMs }',
    by: '{ gateway, clock, sleep }',
  },
  {
    wiring: 'the listener of trade events reports nothing',
    file: 'trade-events',
    find: 'report: metrics.report,',
    by: '',
  },
  {
    wiring: 'groups that need a user need none',
    file: 'access',
    find: '    userGroups,\n  };',
    by: '  };',
  },
  {
    wiring: 'functions share no responses at the deployer’s pace',
    file: 'gateway',
    find: '{ ...stores, tuning: cache.tuning }',
    by: 'stores',
  },
  {
    wiring: 'the directory has a clock of its own',
    file: 'access',
    find: '{ store: { read }, identity, clock }',
    by: '{ store: { read }, identity }',
  },
  {
    wiring: 'replies name no account by a keyed name',
    file: 'lookups',
    find: 'names: identity?.names,',
    by: '',
  },
  {
    wiring: 'processes do not share versions',
    file: 'gateway',
    find: 'cacheStep({\n    ...responses,',
    by: 'cacheStep({\n    responses: responses.responses,',
  },
];

/** Everything is there, and something of it is the wrong one. */
const swapped: readonly Mutant[] = [
  {
    wiring: 'the settlement does not see what counters have, as it was deployed',
    file: 'settlement',
    find: 'const journal = ports.journal(journalTable, identity.sealer);',
    by: 'const journal = { ...ports.journal(journalTable, identity.sealer), exposed: async () => [] };',
  },
  {
    wiring: 'the settlement does not look at the audit of a restored journal',
    file: 'settlement',
    find: 'audit: ports.auditLines(auditTable, identity.sealer),',
    by: 'audit: ports.auditLines(journalTable, identity.sealer),',
  },
  {
    wiring: 'no function that places orders looks for a restored journal',
    file: 'orders',
    find: 'tableNames(parts.journalTable, undefined, parts.usersTable)',
    by: '{}',
  },
  {
    wiring: 'limits and stops have no checkpoint',
    file: 'settlement',
    find: 'tableNames(journalTable, controlsTable, usersTable)',
    by: 'tableNames(journalTable, undefined, usersTable)',
  },
  {
    wiring: 'limits and stops are read from the journal’s table',
    file: 'orders',
    find: 'ports.controls(guard.tableName,',
    by: 'ports.controls(parts.journalTable,',
  },
  {
    wiring: 'mass cancels are looked for in the journal’s table',
    file: 'mass-cancels',
    find: 'ports.massCancels(controlsTable)',
    by: 'ports.massCancels(journalTable)',
  },
  {
    wiring: 'the mass cancel offers itself another operation',
    file: 'mass-cancels',
    find: 'operations: [cancelOrder], orders',
    by: 'operations: [getOrder], orders',
  },
  {
    wiring: 'last prices are looked for under another upstream',
    file: 'last-prices',
    find: 'upstreamName(upstreamBaseUrl), partition',
    by: "upstreamName('another'), partition",
  },
  {
    wiring: 'replies of lookups go to a bus that is a table’s name',
    file: 'lookups',
    find: 'bus: ports.bus(queues.busName,',
    by: 'bus: ports.bus(queues.tableName,',
  },
  {
    wiring: 'quotes are not shared',
    file: 'offers',
    find: 'composeQuotes(symbolListing, settings, ports)',
    by: 'composeResponses(settings, ports)',
  },
  {
    wiring: 'workers ask without being the holder of the app key',
    file: 'holder',
    find: "access: 'single-user',\n    orders: undefined,",
    by: 'access: undefined,\n    orders: undefined,',
  },
  {
    wiring: 'the identity key signs requests',
    file: 'settlement',
    find: 'composeAppSecret(settings.secretId, ports)',
    by: 'composeAppSecret(identityKeySecretId, ports)',
  },
  {
    wiring: 'an alarm’s stop is written elsewhere',
    file: 'trading-stop',
    find: 'ports.controlAdmin(tableName)',
    by: 'ports.controlAdmin(identityKeySecretId)',
  },
  {
    wiring: 'the audit’s events go to the bus of its table’s name',
    file: 'order-audit',
    find: 'ports.bus(busName,',
    by: 'ports.bus(tableName,',
  },
  {
    wiring: 'each function counts for itself',
    file: 'limiter',
    find: 'ports.limiterStore(tableName)',
    by: 'ports.limiterStore(functionName)',
  },
  {
    wiring: 'last prices count in a bucket of their own',
    file: 'last-prices',
    find: '{ ...limiter, reserve },',
    by: "{ ...limiter, reserve, bucket: 'prices' },",
  },
  {
    wiring: 'the journal is sealed with the app secret',
    file: 'settlement',
    find: 'composeIdentity(identityKeySecretId, ports)',
    by: 'composeIdentity(settings.secretId, ports)',
  },
  {
    wiring: 'replies with account data are stored in the clear',
    file: 'lookups',
    find: 'ports.lookupStore(queues.tableName, identity?.sealer)',
    by: 'ports.lookupStore(queues.tableName, undefined)',
  },
  {
    wiring: 'streams look for trade events where the listener does not keep them',
    file: 'order-streams',
    find: 'ports.eventHistory(historyTable, identity.sealer)',
    by: 'ports.eventHistory(access.tableName, identity.sealer)',
  },
  {
    wiring: 'the listener keeps no trade event for streams',
    file: 'trade-events',
    find: 'history ? keptBus(bus, history, { clock, onFailure: notKept }) : bus',
    by: 'history ? bus : keptBus(bus, history!, { clock, onFailure: notKept })',
  },
  {
    wiring: 'functions read what the channel tells under another upstream',
    file: 'gateway',
    find: 'ports.streamed(...shared)',
    by: "ports.streamed(shared[0], upstreamName('another'))",
  },
  {
    wiring: 'the listener of quotes looks for demand under another upstream',
    file: 'market-stream',
    find: 'ports.snapshots(...shared)',
    by: "ports.snapshots(tableName, 'another')",
  },
  {
    wiring: 'the listener of quotes tells under its own name',
    file: 'market-stream',
    find: 'ports.streamed(...shared)(partition)',
    by: 'ports.streamed(...shared)(functionName)',
  },
];

const textOf = (path: string) => readFileSync(join(root, 'functions', path), 'utf8');
const composedIn = (name: string): readonly string[] =>
  [...textOf(`${name}/handler.ts`).matchAll(/compose\/([\w-]+)\.ts/g)].map(([, file = '']) => file);
const workersWithScenario = workerNames.filter(
  (one) => workerRows[one].composition && !['access-token', 'canary'].includes(one),
);

/** Of a worker that has none above: each port whose table, bus or secret has a name gets another name. */
const renamed: readonly Mutant[] = workersWithScenario
  .flatMap(composedIn)
  .filter((file) => file !== 'start' && !swapped.some((one) => one.file === file))
  .flatMap((file) =>
    [...textOf(`compose/${file}.ts`).matchAll(/(ports\.(\w+)\()\w+(?=[,)])/g)].map(([find, call, port]) => ({
      wiring: `${file} has another ${port}`,
      file,
      find,
      by: `${call}'another'`,
    })),
  );

/** The scenario that fails first, or the start where no scene comes about. */
async function foundBy(mutant?: Mutant): Promise<string | undefined> {
  const plugins = mutant ? [replaceIn(`functions/compose/${mutant.file}.ts`, mutant.find, mutant.by)] : [];
  const entry = `
    import * as facts from './functions/compose/offers.ts';
    import * as ofOrders from './functions/compose/order-offers.ts';
    export * from './functions/compose/functions.ts';
    export { startWorker } from './functions/compositions.ts';
    export const offers = { ...facts, ...ofOrders };`;
  const { text } = await bundle(entry, { plugins, platform: 'node' });
  const compositions = (await load(text)) as Compositions;
  const platform = memoryPlatform('any');
  for (const { name, run, share = 1 } of scenarios) {
    const scene = await startScene({ platform, compositions, limits, share }).catch(() => undefined);
    if (!scene) return 'the start';
    try {
      await run(scene);
    } catch {
      return name;
    } finally {
      await scene.close();
    }
  }
  return undefined;
}

describe('left out, a mutant does not compile', () => {
  let errors: string;
  beforeAll(async () => {
    errors = await errorsOf([...leftOut, ...swapped]);
  });
  for (const [index, { wiring }] of leftOut.entries())
    test(wiring, () => assert.match(errors, new RegExp(`(^|/)${index}/functions/compose/`, 'm')));
  test('the others compile, which is why scenarios have to find them', () => {
    for (const index of swapped.keys())
      assert.doesNotMatch(errors, new RegExp(`(^|/)${leftOut.length + index}/functions/compose/`, 'm'));
  });
});

test('each worker with a scenario is wired wrongly in some way', () => {
  for (const name of workersWithScenario)
    assert.ok(
      [...swapped, ...renamed].some(({ file }) => composedIn(name).includes(file)),
      name,
    );
});

test('the compositions as they are pass', async () => {
  assert.equal(await foundBy(), undefined);
});

for (const mutant of [...swapped, ...renamed])
  test(`found: ${mutant.wiring}`, async () => {
    const by = await foundBy(mutant);
    console.log(`| ${mutant.wiring} | ${by ?? 'not found'} |`);
    assert.ok(by, 'not found');
  });

/** What the compiler says of all of them, each beside the real folders, which have the rest. */
async function errorsOf(mutants: readonly Mutant[]): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'countersign-wirings-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
    for (const [index, { file, find, by }] of mutants.entries()) {
      const folder = join(directory, String(index), 'functions/compose');
      mkdirSync(folder, { recursive: true });
      const parts = readFileSync(join(root, `functions/compose/${file}.ts`), 'utf8').split(find);
      assert.equal(parts.length, 2, `${file} has ${parts.length - 1} times: ${find}`);
      writeFileSync(join(folder, `${file}.ts`), parts.join(by));
    }
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({
        extends: join(root, 'tsconfig.json'),
        compilerOptions: {
          rootDirs: [root, ...mutants.map((_, index) => join(directory, String(index)))],
          typeRoots: [join(root, 'node_modules/@types')],
        },
        include: ['*/functions/compose'],
      }),
    );
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    return await new Promise((resolve) =>
      execFile(process.execPath, [tsc, '-p', directory], { cwd: directory, maxBuffer: 1e8 }, (_, output) =>
        resolve(output),
      ),
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
