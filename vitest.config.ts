/**
 * Which tests run where, and what is told of them: `unit` while one types; with `waits`, `integration` and
 * `stack` it is `npm test`, in which every promise has a test; the other projects are `npm run test:exhaustive`.
 */

import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/** The contracts of stores on DynamoDB: of `waits` over tables in the process, of `emulator` over its engine. */
const dynamo =
  'test/{access,guard-rails,limiter,live,lookups,orders,snapshots,trade-events}/*-dynamo.test.ts';

/** Python, Node 24 and the AWS emulator; what is missing is skipped. */
const emulator = [
  'test/emulator/**/*.test.ts',
  'test/schemathesis/**/*.test.ts',
  'test/trade-events/python-client.test.ts',
  'test/limiter/processes.test.ts',
  'test/**/*-dynamo.test.ts',
  'test/compositions/{least-privilege,stage}.test.ts',
];

/** Other runtimes, other versions of the compiler, and the package as it is packed: each in a folder of its own. */
const runtimes = ['test/{package,runtimes,types}/**/*.test.ts'];

/** A compiler, a bundler, the CDK or processes of its own; nothing that has to be installed besides. */
const integration = [
  'test/**/bundle.test.ts',
  'test/**/main.test.ts',
  'test/bench/bench.test.ts',
  'test/{ceilings,ci-run}.test.ts',
  'test/client/types.test.ts',
  'test/commands/{bill,client,package,preflight,said,secret-set,stage,token}.test.ts',
  'test/deployed/deployed.test.ts',
  'test/docs/{architecture,cost,operation-tables,security}.test.ts',
  'test/gateway/{routes,secrecy}.test.ts',
  'test/local-run/**/*.test.ts',
  'test/market-stream/{listener,upstream}.test.ts',
  'test/open-api/**/*.test.ts',
  'test/public-surface.test.ts',
  'test/readme-pasted.test.ts',
  'test/setup.test.ts',
  'test/side-by-side/upgrade.test.ts',
  'test/support/reporter.test.ts',
];

/** Real time-outs, each operation over a connection, or a second of computing: too slow to wait for while one types. */
const waits = [
  'test/access/issuer-keys.test.ts',
  'test/client/{follow,outcome-unknown}.test.ts',
  'test/commands/{doctor,examine,smoke,users}.test.ts',
  'test/compositions/memory.test.ts',
  'test/deployed/{payload,send}.test.ts',
  'test/docs/events.test.ts',
  'test/existing-clients/**/*.test.ts',
  'test/functions/rest-proxy.test.ts',
  'test/gateway/{access-matrix,answer-memory,cache,checks,instruments-limit,limiter,lists,neighbours,order-polling,order-shares}.test.ts',
  'test/gateway/{read-again,redact,refusal-readers,side-effects,smuggling,upstream-answers}.test.ts',
  'test/guard-rails/{counters,determined-user,every-limit,worst-case}.test.ts',
  'test/json-scan.test.ts',
  'test/limiter/{many-limits,shares,window}.test.ts',
  'test/live/{first-look,order-streams-chaos,stream-demand}.test.ts',
  'test/lookups/{chaos,faults}.test.ts',
  'test/market-stream/{composed,greedy}.test.ts',
  'test/orders/{broken-before,contention,hand-over}.test.ts',
  'test/simulator/{every-operation,legacy,market-stream-faults,observed-refusals}.test.ts',
  'test/snapshots/{directory,phones}.test.ts',
  'test/trade-events/{bus-events,clocks,follow-events,listener}.test.ts',
];

/** Templates: files share a process, because to load the CDK takes longer than most of them. */
const stack = ['test/stack/**/*.test.ts'];

/** Thousands of random requests, hours on a virtual clock, and the code with its rules broken one by one. */
const exhaustive = [
  'test/**/mutants.test.ts',
  'test/client/declared-types.test.ts',
  'test/alarms/*.test.ts',
  'test/cache/fairness.test.ts',
  'test/guard-rails/exposure-model.test.ts',
  'test/page/*.test.ts',
  'test/orders/{model,random-histories,restored-histories,under-fire}.test.ts',
  'test/orders/mass-cancel/histories.test.ts',
  'test/limiter/{limit,limits,priorities,storm,store-faults,store-loss}.test.ts',
  'test/gateway/{more-order-shares,wrong-preset}.test.ts',
  'test/live/{fleet,sockets}.test.ts',
  'test/market-stream/faults.test.ts',
  'test/snapshots/{checkpoints,faults,fleet,interleavings,valid-symbols,storms}.test.ts',
  'test/side-by-side/formats.test.ts',
  'test/signer/properties.test.ts',
  'test/trade-events/chaos.test.ts',
  'test/traces.test.ts',
  'test/simulator/{any-request,order-prices,price-range}.test.ts',
];

/** Generators of clients, compilers of other languages, and what they fetch from package registries. */
const clients = ['test/clients/**/*.test.ts'];

/** For files that share a process. */
const ownEnvironment = './test/support/own-environment.ts';

const exclude = [...configDefaults.exclude, '**/.venv/**', '**/.build/**'];

export default defineConfig({
  test: {
    reporters: ['default', './test/support/reporter.ts'],
    disableConsoleIntercept: true,
    env: {
      // The client's word on the Node version, once in each process.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      // The CDK's own look at each template, which takes as long as all else; the tests of `cdk synth` have it.
      CDK_VALIDATION: 'false',
    },
    pool: 'forks',
    // A file is transformed once for all projects, and again only when it changes.
    experimental: { fsModuleCache: true },
    // What a test has built is loaded as it is.
    server: { deps: { external: [/\/\.build\/.*\.m?js$/] } },
    // More than there are cores: much of the time goes into waiting for the other side of a connection. The unit tests,
    // which do not wait, have one a core. A number, as a share is cut to the number of cores.
    maxWorkers: Number(process.env.WORKERS_PER_CORE ?? 3) * availableParallelism(),
    // Far above what any test takes on a busy machine: it ends what hangs, and judges nothing.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    coverage: { include: ['lib/**/*.ts', 'functions/**/*.ts'], reporter: ['text-summary'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          // Files share a process and what it has loaded: each puts back what it changes.
          isolate: false,
          setupFiles: ['./test/support/inner-loop.ts', ownEnvironment],
          include: ['test/**/*.test.ts'],
          exclude: [
            ...exclude,
            ...integration,
            ...waits,
            ...stack,
            ...exhaustive,
            ...emulator,
            ...runtimes,
            ...clients,
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'waits',
          isolate: false,
          setupFiles: ownEnvironment,
          include: [...waits, dynamo],
          exclude,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          // Files share a process, as those of the unit tests do.
          isolate: false,
          setupFiles: ownEnvironment,
          globalSetup: './test/support/command.ts',
          include: integration,
          exclude,
        },
      },
      {
        extends: true,
        test: {
          name: 'stack',
          isolate: false,
          setupFiles: [ownEnvironment, './test/support/own-folder.ts'],
          include: stack,
          exclude,
        },
      },
      {
        extends: true,
        test: {
          name: 'exhaustive',
          globalSetup: './test/support/command.ts',
          include: exhaustive,
          exclude,
        },
      },
      {
        extends: true,
        test: {
          name: 'emulator',
          env: { DYNAMODB: 'emulator' },
          globalSetup: ['./test/support/command.ts', './test/emulator/synthesis.ts'],
          include: emulator,
          exclude,
        },
      },
      { extends: true, test: { name: 'runtimes', include: runtimes, exclude } },
      // Compilers use several cores by themselves.
      { extends: true, test: { name: 'clients', include: clients, exclude, maxConcurrency: 2 } },
    ],
  },
});
