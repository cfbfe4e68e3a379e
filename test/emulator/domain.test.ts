/**
 * The same requests through a path with a stage and through a domain of the API's own, which the emulator finds by the
 * Host header as API Gateway does. It knows no policies of TLS, and at any domain it answers /health for itself.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import {
  APIGatewayClient,
  CreateBasePathMappingCommand,
  CreateDomainNameCommand,
} from '@aws-sdk/client-api-gateway';
import { describe, test } from 'vitest';
import {
  exposedOperations,
  type Group,
  groups,
  openable,
  operations,
  routesOf,
} from '../../lib/catalogue/index.ts';
import { callOf, type Prepare } from '../support/calls.ts';
import { needsEmulator } from '../support/missing-emulator.ts';
import { signedByAws } from './aws-signature.ts';
import { deployedStage } from './deployed-stage.ts';
import { clientConfig } from './deployment.ts';
import { snapshots } from './stage.ts';

const name = 'api.example.com';
/** Another one, which a deployer has mapped to the stage himself, under a base path. */
const withBasePath = { name: 'shared.example.com', basePath: 'broker' };

interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  readonly body: string;
}

interface Init {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** What existing clients of the interface write into `Host`: all that follows the scheme of their base URL. */
const hostOf = (baseUrl: string) => baseUrl.replace(/^https?:\/\//, '');

describe('deployed with a domain', needsEmulator(), () => {
  const stage = deployedStage({
    granted: true,
    props: {
      domain: { name, certificateArn: 'arn:aws:acm:us-east-1:000000000000:certificate/0a1b2c3d' },
      groups: { accounts: 'iam', orders: 'iam', watchlists: 'iam' },
      plans: { default: { ratePerSecond: 5000, burst: 5000 } },
      // So that no way is served what another one has fetched.
      cache: 'off',
    },
    upstreamLimit: 100_000,
    unrouted: [],
    async prepare() {
      const api = new APIGatewayClient(clientConfig(stage.emulator));
      await api.send(new CreateDomainNameCommand({ domainName: withBasePath.name }));
      await api.send(
        new CreateBasePathMappingCommand({
          domainName: withBasePath.name,
          basePath: withBasePath.basePath,
          restApiId: stage.restApiId,
          stage: 'v1',
        }),
      );
      ways = {
        stage: stage.url,
        domain: `http://${name}`,
        'base path': `http://${withBasePath.name}/${withBasePath.basePath}`,
      };
    },
  });
  /** Three ways to one stage, by their base URLs. */
  let ways: Readonly<Record<'stage' | 'domain' | 'base path', string>>;

  /** As a client whose DNS leads every name to the emulator. (fetch has no say in where it connects.) */
  async function send(baseUrl: string, path: string, { headers = {}, body }: Init = {}): Promise<Answer> {
    const { hostname, port } = new URL(stage.emulator.endpoint);
    const url = new URL(baseUrl + path);
    const sent = request({
      hostname,
      port,
      path: url.pathname + url.search,
      method: body === undefined ? 'GET' : 'POST',
      headers: { host: url.host, ...headers },
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const { statusCode: status = 0, headers: received } = response;
    return { status, type: received['content-type'], body: Buffer.concat(chunks).toString() };
  }

  const key = () => ({ 'x-api-key': stage.apiKey });

  test('the outputs lead with the domain, which is its own Host header; the stage’s URL is none', () => {
    const { ApiUrl = '', StageUrl = '' } = stage.outputs;
    assert.equal(ApiUrl, 'https://api.example.com');
    assert.equal(hostOf(ApiUrl), new URL(ApiUrl).host);
    assert.match(StageUrl, /\/v1$/);
    assert.notEqual(hostOf(StageUrl), new URL(StageUrl).host);
  });

  test('a client that writes its own Host header is answered', async () => {
    const host = hostOf(stage.outputs.ApiUrl ?? '');
    const { status, body } = await send(ways.domain, snapshots, { headers: { host, ...key() } });
    assert.equal(status, 200, body);
    assert.equal((JSON.parse(body) as { symbol: string }[])[0]?.symbol, 'AAPL');
  });

  const asked: readonly (readonly [string, number, string, Record<string, string>?])[] = [
    ['a read by an alias', 200, '/market-data/stocks/depths/list?symbol=AAPL&category=US_STOCK'],
    ['a wrong value', 400, '/openapi/market-data/stock/snapshot?symbols=AAPL&category=FUTURES'],
    ['no key', 403, snapshots, { 'x-api-key': '' }],
    ['an unknown path', 403, '/nowhere'],
    ['the stage in the path', 403, `/v1${snapshots}`],
    ['a call that is not signed', 403, '/trading/accounts/list'],
  ];
  for (const [what, status, path, headers = {}] of asked)
    test(`${what}: the same answer whatever the way`, async () => {
      const answers = await Promise.all(
        Object.values(ways).map((base) => send(base, path, { headers: { ...key(), ...headers } })),
      );
      const [first, ...others] = answers.map((answer) => ({ ...answer, body: steadyPartOf(answer.body) }));
      assert.equal(first?.status, status);
      for (const other of others) assert.deepEqual(other, first);
    });

  for (const { method, path, operation } of routesOf(exposedOperations(operations, openable)))
    test(`${method} ${path} is answered alike, and reaches the upstream as it was called, whatever the way`, async () => {
      for (const [way, base] of Object.entries(ways)) {
        const call = async (target: string, body?: string) => {
          const typed = body ? { 'content-type': 'application/json' } : {};
          const init = { method: body ? 'POST' : 'GET', headers: typed, ...(body && { body }) };
          const isOpen = ['open', 'public'].includes(groups[groupOf(target)].exposure);
          const headers = isOpen
            ? key()
            : await signedByAws({ emulator: stage.emulator, url: base }, target, init);
          return send(base, target, { ...init, headers: { ...typed, ...headers } });
        };
        const prepare: Prepare = async (target, body) =>
          JSON.parse((await call(target, JSON.stringify(body))).body);
        const { search, body } = await callOf(operation.id, prepare);
        const before = stage.simulator.received.length;
        let answer = await call(path + search, body);
        // On a fast machine these calls are more than the upstream's limit in a minute.
        while (answer.status === 429) answer = await call(path + search, body);
        assert.equal(answer.status, 200, `${way}: ${answer.body}`);
        if (operation.gatewayAnswer) {
          assert.equal(answer.body, operation.gatewayAnswer.body, way);
          continue;
        }
        if (operation.answeredBy) continue;
        // On a slow one a read may be sent again, and its first answer be counted late.
        const since = stage.simulator.received.slice(before).filter(({ target }) => target === path + search);
        const received = since.find(({ outcome }) => outcome === 'ok');
        assert.ok(received, `${way}: ${JSON.stringify(since)}`);
        assert.equal(received.headers.host, new URL(stage.simulator.url).host, way);
      }
    });
});

/** Without what is each request's own, and without what moves with the market. */
function steadyPartOf(body: string): unknown {
  const parsed = JSON.parse(body) as Record<string, unknown>;
  const { code, error_code, detail } = parsed;
  return code === undefined ? Object.keys(parsed) : { code, error_code, detail };
}

function groupOf(target: string): Group {
  const path = target.split('?')[0];
  const route = routesOf(operations).find((one) => one.path === path);
  return route?.operation.group ?? assert.fail(target);
}
