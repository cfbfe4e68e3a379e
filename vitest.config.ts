/**
 * Which tests run where, and what is told of them: `unit` while one types; with `waits`, `integration` and
 * `stack` it is `npm test`, in which every promise has a test; the other projects are `npm run test:exhaustive`.
 */

import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/**
 * A project's files stand in folders of its name, in any room, and in rooms that are the project's as a whole. What stands in none
 * is a unit test.
 */
const folders = (project: string, ...rooms: readonly string[]) =>
  [`**/${project}`, ...rooms].map((folder) => `test/${folder}/**/*.test.ts`);

/** The contracts of stores on DynamoDB: of `waits` over tables in the process, of `emulator` over its engine. */
const dynamo = folders('dynamo');

/** Python, Node 24 and the AWS emulator; what is missing is skipped. */
const emulator = folders('emulator', 'schemathesis');

/** Other runtimes, other versions of the compiler, and the package as it is packed. */
const runtimes = folders('runtimes', 'package', 'types');

/** A compiler, a bundler, the CDK or processes of its own; nothing that has to be installed besides. */
const integration = folders('integration', 'local-run', 'open-api');

/** Real time-outs, each operation over a connection, or a second of computing: too slow to wait for while one types. */
const waits = folders('waits', 'existing-clients');

/** Templates: files share a process, because to load the CDK takes longer than most of them. */
const stack = folders('stack');

/** Thousands of random requests, hours on a virtual clock, and the code with its rules broken one by one. */
const exhaustive = folders('exhaustive', 'alarms', 'page', 'snapshots/http');

/** Generators of clients, compilers of other languages, and what they fetch from package registries. */
const clients = folders('clients');

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
            ...dynamo,
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
          include: [...waits, ...dynamo],
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
          include: [...emulator, ...dynamo],
          exclude,
        },
      },
      { extends: true, test: { name: 'runtimes', include: runtimes, exclude } },
      // Compilers use several cores by themselves.
      { extends: true, test: { name: 'clients', include: clients, exclude, maxConcurrency: 2 } },
    ],
  },
});
