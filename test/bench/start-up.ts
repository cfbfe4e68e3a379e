/**
 * What each function weighs and how long it takes to start, beside an empty one with the same AWS client:
 * bundled as for the deployment, in Lambda's own runtime client, on the Node version that is deployed.
 */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import {
  apiNames,
  functionOf,
  functionsOf,
  type WorkerName,
  workerNames,
  workerRows,
} from '../../functions/rows.ts';
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
  readonly first: FirstEvent;
  readonly variables: Readonly<Record<string, string>>;
  readonly file: string;
  readonly bytes: number;
  readonly times: number[];
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
  const secrets = await startSecretsManagerStub(certificate);
  secrets.set('{"app_key":"bench-key","app_secret":"bench-secret"}');
  const upstream = await startUpstreamWithoutTokens();
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
    ...part('CANARY', { url: upstream.url, keySecretId: secrets.secretId }),
  };
  try {
    const candidates = await bundleAll(directory, issuer);
    for (let round = 0; round < rounds + warmUp; round++)
      // In turn, so that other work of the machine falls on all of them.
      for (const candidate of candidates) {
        const milliseconds = await start(node, candidate, { ...env, ...candidate.variables });
        if (round >= warmUp) candidate.times.push(milliseconds);
      }
    await print(candidates, execFileSync(node, ['--version'], { encoding: 'utf8' }).trim(), rounds);
    return Object.fromEntries(candidates.map(({ name, times }) => [name, median(times)]));
  } finally {
    await secrets.close();
    upstream.close();
    issuer.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function bundleAll(directory: string, issuer: IssuerServer): Promise<readonly Candidate[]> {
  const [empty, withClient, withClients, withoutOperations, functions] = await Promise.all([
    bundleFile(fromHere('../lambda/empty.ts'), join(directory, 'empty')),
    bundleFile(fromHere('../lambda/empty-with-client.ts'), join(directory, emptyWithClient)),
    bundleFile(fromHere('../lambda/empty-with-lookup-clients.ts'), join(directory, emptyWithLookupClients)),
    bundleFile(fromHere('../lambda/without-operations.ts'), join(directory, 'without operations')),
    bundleFunctions(directory),
  ]);
  const sorted = [...functions].sort((a, b) => a.group.localeCompare(b.group));
  return [empty, withClient, withClients, withoutOperations, ...sorted].map(({ group, file, bytes }) => ({
    name: group,
    first: firstEvents(issuer.token())[group] ?? unknownRoute,
    variables: variablesOf(group, issuer),
    file,
    bytes,
    times: [],
  }));
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

/** From the start of the process to the request for its first event, and one call to see that it works. */
async function start(
  node: string,
  { file, first }: Candidate,
  env: Readonly<Record<string, string>>,
): Promise<number> {
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
    const milliseconds = performance.now() - started;
    const answer = (await Promise.race([api.call(first.event), failed])) as object;
    if (!first.isAnswer(answer)) throw new Error(`${file} answered ${JSON.stringify(answer)}`);
    return milliseconds;
  } finally {
    child.kill('SIGKILL');
    await ended;
    await api.close();
  }
}

/** A first event that a function answers without an upstream, which it can only when it is set up. */
interface FirstEvent {
  readonly event: object;
  readonly isAnswer: (answer: object) => boolean;
}

/** Of API Gateway, as much as an unknown route needs. */
const unknownRoute: FirstEvent = {
  event: {
    resource: '/unknown',
    httpMethod: 'GET',
    headers: {},
    multiValueQueryStringParameters: null,
    body: null,
    isBase64Encoded: false,
    requestContext: { requestId: 'bench-1' },
  },
  isAnswer: (answer) => 'statusCode' in answer && answer.statusCode === 404,
};

/** Of a queue: a batch that leaves nothing to do, and nothing to come again. */
const emptyBatch: FirstEvent = {
  event: { Records: [] },
  isAnswer: (answer) =>
    'batchItemFailures' in answer &&
    Array.isArray(answer.batchItemFailures) &&
    answer.batchItemFailures.length === 0,
};

/** Of a schedule: the check finds that no token is wanted. */
const schedule: FirstEvent = {
  event: {},
  isAnswer: (answer) => 'result' in answer && answer.result === 'not_needed',
};

/** Of a schedule: what it asks answers everything. */
const answered: FirstEvent = {
  event: {},
  isAnswer: (answer) => 'status' in answer && answer.status === 200,
};

/** Of API Gateway's request for a policy: a good token. */
const question = (token: string): FirstEvent => ({
  event: {
    methodArn: 'arn:aws:execute-api:eu-central-1:123456789012:bench/main/GET/unknown',
    headers: { authorization: `Bearer ${token}` },
    multiValueHeaders: null,
    requestContext: { requestId: 'bench-1' },
  },
  isAnswer: (answer) => 'context' in answer && JSON.stringify(answer.context).includes('claims'),
});

/** Of a schedule: there is no secret to listen with. */
const everyMinute: FirstEvent = {
  event: {},
  isAnswer: (answer) => 'result' in answer && answer.result === 'refused',
};

/** Of a bus: an event that names no order. */
const noOrder: FirstEvent = {
  event: { 'detail-type': 'OrderChanged', detail: {} },
  isAnswer: (answer) => 'settled' in answer && answer.settled === false,
};

/** Of an alarm that is over. */
const noAlarm: FirstEvent = {
  event: { source: 'aws.cloudwatch', alarmData: { alarmName: 'bench', state: { value: 'OK' } } },
  isAnswer: (answer) => 'result' in answer && answer.result === 'no_alarm',
};

/** Of a schedule: there is no request to cancel anything. */
const noRequest: FirstEvent = {
  event: {},
  isAnswer: (answer) => 'requests' in answer && answer.requests === 0,
};

/** Of a schedule, for a worker of which nothing else is known here: it fails while its environment is wrong. */
const anyEvent: FirstEvent = { event: {}, isAnswer: (answer) => !('errorMessage' in answer) };

/** Those of workers. */
const firstEvents = (token: string): Readonly<Partial<Record<string, FirstEvent>>> => ({
  ...Object.fromEntries(
    workerNames.map((name) => [name, workerRows[name].listens ? everyMinute : anyEvent] as const),
  ),
  [lookups]: emptyBatch,
  'access-token': schedule,
  canary: answered,
  'order-audit': emptyBatch,
  'order-settlement': noOrder,
  'trading-stop': noAlarm,
  [massCancels]: noRequest,
  authorizer: question(token),
});

/** The functions that have a first event. */
export const measured: readonly string[] = [...apiNames, ...workerNames];

/** Asked by the check of the access token alone. */
async function startUpstreamWithoutTokens() {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"token_check_enabled":false}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

async function print(candidates: readonly Candidate[], version: string, rounds: number): Promise<void> {
  const timeOf = (name: string) => median(candidates.find((other) => other.name === name)?.times ?? []);
  console.log(`Start-up: process to first event, Lambda's runtime client, Node ${version}, ${rounds} rounds`);
  for (const { name, file, bytes, times } of candidates) {
    const packed = gzipSync(await readFile(file), { level: 9 }).length;
    const time = median(times);
    const base = timeOf(
      name === lookups || name === 'trade-events' ? emptyWithLookupClients : emptyWithClient,
    );
    const ratio = name.startsWith('empty') ? '' : `   ${(time / base).toFixed(2)} × (aim ≤ ${aim})`;
    const size = `${kilobytes(bytes)} kB, ${kilobytes(packed)} kB gzip`;
    console.log(`  ${name.padEnd(33)} ${size.padEnd(26)} ${time.toFixed(1).padStart(6)} ms${ratio}`);
  }
}

const kilobytes = (bytes: number) => (bytes / 1000).toFixed(1);
