/**
 * What each function weighs, how long it takes until it asks for its first event, beside an empty one with the AWS client,
 * and until that event is answered, beside an empty one that reads the secret by the same client and makes one call:
 * bundled as for the deployment, in Lambda's own runtime client, on the Node version that is deployed.
 */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { functionOf, functionsOf, type WorkerName, workerRows } from '../../functions/rows.ts';
import { writePart } from '../../functions/settings/parts.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import { openable, openByDefault, operations } from '../../lib/catalogue/index.ts';
import { liveOperations } from '../../lib/catalogue/live.ts';
import { areJournaled } from '../../lib/gateway/look-ups.ts';
import { type IssuerServer, startIssuer } from '../access/issuer-server.ts';
import { bundleFile, bundleFunctions } from '../deployed/bundles.ts';
import {
  awsEnvironment,
  identityKeyId,
  startSecretsManagerStub,
  usersTable,
} from '../deployed/secrets-manager-stub.ts';
import { selfSigned } from '../deployed/self-signed.ts';
import { startRuntimeApi } from '../lambda/runtime-api.ts';
import {
  missingForStartUp,
  runtimeClient,
  runtimeEnvironment,
  runtimeNode,
} from '../lambda/runtime-client.ts';
import { type Figures, median, type Size } from '../support/figures.ts';
import { part, parts } from '../support/parts.ts';
import { DynamoTables } from '../world/dynamo-tables.ts';
import {
  credentials,
  emptyWithCall,
  emptyWithClientAndCall,
  type FirstEvent,
  startBenchUpstream,
  startUpstreamWithoutTokens,
} from './first-events.ts';

const aim = 1.25;

const fromHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const lookups = 'quote-lookup';
const massCancels = 'mass-cancels';
const emptyWithClient = 'empty with the AWS client';
/** Its function sends to SQS and EventBridge, too. */
const emptyWithLookupClients = 'empty with the clients of lookups';
/** Functions that have a cache, as the stack gives them one. */
const cached = new Set<string>(
  [...operations, ...liveOperations].flatMap((one) =>
    one.freshness || one.sideEffect || one.follows ? [functionOf(one)] : [],
  ),
);
/** Functions that have the journal of orders. */
const journaled = new Set<string>(
  operations.flatMap((one) => (areJournaled([one]) ? [functionOf(one)] : [])),
);
/** Functions that ask who calls. */
const asking = new Set<string>(openable.filter(isAccountData).flatMap(functionsOf));

interface Candidate {
  readonly name: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly file: string;
  readonly bytes: number;
  readonly starts: Start[];
}

/** Milliseconds from the start of the process. */
interface Start {
  readonly firstEvent: number;
  readonly firstAnswer: number;
}

/** Prints a table. Without the runtime client it prints how to get that instead. */
export async function benchStartUp({ rounds, warmUp }: Size): Promise<Figures> {
  const missing = missingForStartUp();
  if (missing) {
    console.log(`Start-up: not measured. ${missing}`);
    return {};
  }
  const node = runtimeNode();
  if (node === process.execPath)
    console.log('Start-up: on this Node, the deployed one is missing: npm ci --prefix test/runtimes');

  const parent = fromHere('../../.build/');
  await mkdir(parent, { recursive: true });
  const directory = await mkdtemp(join(parent, 'start-up-'));
  // As AWS is asked: over HTTP, each would load what the deployed function never does.
  const certificate = selfSigned();
  const authority = join(directory, 'authority.pem');
  await writeFile(authority, certificate.cert);
  let tables = new DynamoTables();
  const secrets = await startSecretsManagerStub(certificate, () => tables);
  secrets.set(JSON.stringify({ app_key: credentials.appKey, app_secret: credentials.appSecret }));
  const upstream = await startBenchUpstream(certificate);
  const withoutTokens = await startUpstreamWithoutTokens(certificate);
  const issuer = await startIssuer();
  const env = {
    ...awsEnvironment,
    AWS_ENDPOINT_URL: secrets.url,
    NODE_EXTRA_CA_CERTS: authority,
    ...runtimeEnvironment,
    ...part('UPSTREAM', { baseUrl: upstream.url, secretId: secrets.secretId }),
    ...parts('LIMITER', 'MARKET_STREAM', 'TRADE_EVENTS', 'EVENT_HISTORY', 'ORDER_AUDIT', 'LIVE'),
    ...parts('SETTLEMENT', 'TRADING_STOP', 'MASS_CANCELS'),
    ...part('LOOKUPS', {
      groups: openByDefault,
      queues: {
        tableName: 'bench',
        queueUrl: `${secrets.url}/queue`,
        busQueueUrl: undefined,
        deadLetterUrl: `${secrets.url}/dead-letters`,
        busName: 'bench',
      },
    }),
    ...part('CANARY', { url: withoutTokens.url, keySecretId: secrets.secretId }),
  };
  try {
    const askingWorker = part('UPSTREAM', { baseUrl: withoutTokens.url, secretId: secrets.secretId });
    const candidates = await bundleAll(directory, (group) => ({
      ...(group === 'access-token' && askingWorker),
      ...variablesOf(group, issuer),
    }));
    for (let round = 0; round < rounds + warmUp; round++)
      // In turn, so that other work of the machine falls on all of them.
      for (const candidate of candidates) {
        const first = await upstream.firstEvent(candidate.name, issuer.token());
        // Empty, so that no answer of another start is in the cache.
        tables = new DynamoTables();
        const measured = await start(node, candidate.file, first, { ...env, ...candidate.variables });
        if (round >= warmUp) candidate.starts.push(measured);
      }
    await print(candidates, execFileSync(node, ['--version'], { encoding: 'utf8' }).trim(), rounds);
    return Object.fromEntries(
      candidates.flatMap(({ name, starts }) => [
        [name, medianOf(starts, 'firstEvent')],
        [`${name}, first answer`, medianOf(starts, 'firstAnswer')],
      ]),
    );
  } finally {
    await secrets.close();
    await upstream.close();
    withoutTokens.close();
    issuer.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function bundleAll(
  directory: string,
  variablesFor: (group: string) => Readonly<Record<string, string>>,
): Promise<readonly Candidate[]> {
  const [empty, withClient, withCall, withBoth, withClients, withoutOperations, functions] =
    await Promise.all([
      bundleFile(fromHere('../lambda/empty.ts'), join(directory, 'empty')),
      bundleFile(fromHere('../lambda/empty-with-client.ts'), join(directory, emptyWithClient)),
      bundleFile(fromHere('../lambda/empty-with-call.ts'), join(directory, emptyWithCall)),
      bundleFile(
        fromHere('../lambda/empty-with-client-and-call.ts'),
        join(directory, emptyWithClientAndCall),
      ),
      bundleFile(fromHere('../lambda/empty-with-lookup-clients.ts'), join(directory, emptyWithLookupClients)),
      bundleFile(fromHere('../lambda/without-operations.ts'), join(directory, 'without operations')),
      bundleFunctions(directory),
    ]);
  const sorted = [...functions].sort((a, b) => a.group.localeCompare(b.group));
  return [empty, withClient, withCall, withBoth, withClients, withoutOperations, ...sorted].map(
    ({ group, file, bytes }) => ({ name: group, variables: variablesFor(group), file, bytes, starts: [] }),
  );
}

/** What the stack gives one function and not another. */
const variablesOf = (group: string, issuer: IssuerServer): Readonly<Record<string, string>> => ({
  ...(group === 'authorizer' && writePart('AUTH', issuer.auth)),
  ...((group === lookups || group === massCancels || cached.has(group)) && part('CACHE')),
  ...(workerRows[group as WorkerName]?.listens && part('UPSTREAM', { secretId: 'none' })),
  ...(workerRows[group as WorkerName]?.isKeyed &&
    writePart('IDENTITY', { identityKeySecretId: identityKeyId })),
  ...((group === massCancels || journaled.has(group)) && part('JOURNAL')),
  ...(group === 'orders' && part('TRADING')),
  ...(asking.has(group) && part('ACCESS', { tableName: usersTable, identityKeySecretId: identityKeyId })),
});

/** Starts a process, waits until it asks for its first event, and gives it that one. */
async function start(
  node: string,
  file: string,
  first: FirstEvent,
  env: Readonly<Record<string, string>>,
): Promise<Start> {
  const folder = dirname(file);
  const api = await startRuntimeApi();
  const started = performance.now();
  const child: ChildProcess = spawn(node, [runtimeClient, 'index.handler'], {
    cwd: folder,
    env: { ...env, AWS_LAMBDA_RUNTIME_API: api.address, LAMBDA_TASK_ROOT: folder, _HANDLER: 'index.handler' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    const failed = ended.then(([code]) => {
      throw new Error(`${file} ended with ${code} before it answered`);
    });
    failed.catch(() => {});
    await Promise.race([api.initialised, failed]);
    const firstEvent = performance.now() - started;
    const answer = (await Promise.race([api.call(first.event), failed])) as object;
    const firstAnswer = performance.now() - started;
    if (!first.isAnswer(answer)) throw new Error(`${file} answered ${JSON.stringify(answer)}`);
    return { firstEvent, firstAnswer };
  } finally {
    child.kill('SIGKILL');
    await ended;
    await api.close();
  }
}

const medianOf = (starts: readonly Start[], what: keyof Start) => median(starts.map((one) => one[what]));

async function print(candidates: readonly Candidate[], version: string, rounds: number): Promise<void> {
  const startsOf = (name: string) => candidates.find((other) => other.name === name)?.starts ?? [];
  console.log(
    `Start-up: process to first event and to first answer, Lambda's runtime client, Node ${version}, ${rounds} rounds`,
  );
  for (const { name, file, bytes, starts } of candidates) {
    const packed = gzipSync(await readFile(file), { level: 9 }).length;
    const size = `${kilobytes(bytes)} kB, ${kilobytes(packed)} kB gzip`;
    const compared = (what: keyof Start, empty: string) => {
      const time = medianOf(starts, what);
      const ratio = time / medianOf(startsOf(empty), what);
      const isEmpty = name.startsWith('empty');
      return `${time.toFixed(1).padStart(6)} ms ${isEmpty ? ''.padEnd(7) : `${ratio.toFixed(2)} × `}`;
    };
    const empty = name === lookups || name === 'trade-events' ? emptyWithLookupClients : emptyWithClient;
    console.log(
      `  ${name.padEnd(33)} ${size.padEnd(26)} ${compared('firstEvent', empty)} ${compared('firstAnswer', emptyWithCall)}`,
    );
  }
  console.log(`  aim: first answer ≤ ${aim} ×`);
}

const kilobytes = (bytes: number) => (bytes / 1000).toFixed(1);
