/**
 * The first event of each function, and what answers it: a function behind the API gets a request that it passes on to the
 * upstream, a worker gets an event that leaves it nothing to do.
 */

import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { apiNames, type FunctionName, operationsIn, workerNames, workerRows } from '../../functions/rows.ts';
import { startSimulator } from '../../infra/simulator/index.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { liveOperations } from '../../lib/catalogue/live.ts';
import { createSignedFetch, createSigner } from '../../lib/signer/index.ts';
import { operatorArn } from '../deployed/secrets-manager-stub.ts';
import { callOf } from '../support/calls.ts';

/** Names of the empty functions that read the secret and make one call, by our client and by the SDK's. */
export const emptyWithCall = 'empty with a call';
export const emptyWithClientAndCall = 'empty with AWS client and call';

export const credentials = { appKey: 'bench-key', appSecret: 'bench-secret' };

/** Certificate and key of a server, in PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface FirstEvent {
  readonly event: object;
  /** Whether it is the answer of a function that is set up. */
  readonly isAnswer: (answer: object) => boolean;
}

/** Event of API Gateway with the members that functions read. */
const proxyEvent = (resource: string, httpMethod: string, search = '', body: string | null = null) => ({
  resource,
  httpMethod,
  headers: body === null ? {} : { 'content-type': 'application/json' },
  queryStringParameters: Object.fromEntries(new URLSearchParams(search)),
  multiValueQueryStringParameters: null,
  body,
  isBase64Encoded: false,
  requestContext: { requestId: 'bench-1', identity: { userArn: operatorArn } },
});

const hasStatus =
  (status: number): FirstEvent['isAnswer'] =>
  (answer) =>
    'statusCode' in answer && answer.statusCode === status;

const unknownRoute: FirstEvent = { event: proxyEvent('/unknown', 'GET'), isAnswer: hasStatus(404) };

/** Empty functions that call the upstream, whose simulator refuses the signature of such a function. */
const emptyCall: FirstEvent = { event: {}, isAnswer: hasStatus(401) };

/** Batch of a queue that leaves nothing to do, and nothing to come again. */
const emptyBatch: FirstEvent = {
  event: { Records: [] },
  isAnswer: (answer) =>
    'batchItemFailures' in answer &&
    Array.isArray(answer.batchItemFailures) &&
    answer.batchItemFailures.length === 0,
};

/** A schedule's event: the check finds that no token is wanted. */
const schedule: FirstEvent = {
  event: {},
  isAnswer: (answer) => 'result' in answer && answer.result === 'not_needed',
};

/** A schedule's event: the API that the canary asks answers everything. */
const answered: FirstEvent = {
  event: {},
  isAnswer: (answer) => 'status' in answer && answer.status === 200,
};

/** API Gateway's request for a policy, with a good token. */
const question = (token: string): FirstEvent => ({
  event: {
    methodArn: 'arn:aws:execute-api:eu-central-1:123456789012:bench/main/GET/unknown',
    headers: { authorization: `Bearer ${token}` },
    multiValueHeaders: null,
    requestContext: { requestId: 'bench-1' },
  },
  isAnswer: (answer) => 'context' in answer && JSON.stringify(answer.context).includes('claims'),
});

/** A schedule's event: there is no secret to listen with. */
const everyMinute: FirstEvent = {
  event: {},
  isAnswer: (answer) => 'result' in answer && answer.result === 'refused',
};

/** Event of a bus that names no order. */
const noOrder: FirstEvent = {
  event: { 'detail-type': 'OrderChanged', detail: {} },
  isAnswer: (answer) => 'settled' in answer && answer.settled === false,
};

/** Event of an alarm that is over. */
const noAlarm: FirstEvent = {
  event: { source: 'aws.cloudwatch', alarmData: { alarmName: 'bench', state: { value: 'OK' } } },
  isAnswer: (answer) => 'result' in answer && answer.result === 'no_alarm',
};

/** A schedule's event: there is no request to cancel anything. */
const noRequest: FirstEvent = {
  event: {},
  isAnswer: (answer) => 'requests' in answer && answer.requests === 0,
};

/** For a worker of which nothing else is known here: it fails while its environment is wrong. */
const anyEvent: FirstEvent = { event: {}, isAnswer: (answer) => !('errorMessage' in answer) };

/** Events of functions that callers do not reach through an operation. */
const firstEvents = (token: string): Readonly<Record<string, FirstEvent>> => ({
  [emptyWithCall]: emptyCall,
  [emptyWithClientAndCall]: emptyCall,
  ...Object.fromEntries(
    workerNames.map((name) => [name, workerRows[name].listens ? everyMinute : anyEvent] as const),
  ),
  'quote-lookup': emptyBatch,
  'access-token': schedule,
  canary: answered,
  'order-audit': emptyBatch,
  'order-settlement': noOrder,
  'trading-stop': noAlarm,
  'mass-cancels': noRequest,
  authorizer: question(token),
});

/** The functions that have a first event. */
export const measured: readonly string[] = [...apiNames, ...workerNames];

/** The upstream of the functions, which the simulator is, over TLS. */
export interface BenchUpstream {
  readonly url: string;
  /** Creates the first event of a start; what a request needs at the upstream is there. */
  firstEvent(name: string, token: string): Promise<FirstEvent>;
  close(): Promise<void>;
}

export async function startBenchUpstream(certificate: Certificate): Promise<BenchUpstream> {
  const simulator = await startSimulator(credentials);
  const signedFetch = createSignedFetch({ signer: createSigner(credentials) });
  const prepare = async (path: string, body: unknown) => {
    const response = await signedFetch(`${simulator.url}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    return response.json();
  };
  const { port } = new URL(simulator.url);
  const server = createTlsServer(certificate, (outer) => {
    const inner = connect(Number(port), '127.0.0.1');
    // A function that was ended leaves both as they are.
    for (const socket of [outer, inner]) socket.on('error', () => [outer, inner].map((one) => one.destroy()));
    outer.pipe(inner).pipe(outer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    async firstEvent(name, token) {
      const known = firstEvents(token)[name];
      if (known) return known;
      const [operation] = operationsIn(name as FunctionName, [...operations, ...liveOperations]);
      if (!operation) return unknownRoute;
      const { method, path, example } = operation;
      const { search, body } = operations.includes(operation)
        ? await callOf(operation.id, prepare)
        : { search: `${new URLSearchParams(example.query as Record<string, string>)}`, body: undefined };
      return { event: proxyEvent(path, method, search, body), isAnswer: hasStatus(200) };
    },
    async close() {
      server.close();
      await simulator.close();
    },
  };
}

/** What workers ask that take a short answer to each request: that no token is needed. */
export async function startUpstreamWithoutTokens(certificate: Certificate) {
  const server = createServer(certificate, (_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"token_check_enabled":false}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `https://localhost:${port}`, close: () => server.close() };
}
