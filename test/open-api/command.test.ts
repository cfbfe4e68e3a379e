import assert from 'node:assert/strict';
import { test } from 'vitest';
import { openApiText } from '../../infra/commands/open-api.ts';
import { given, refused } from '../commands/given.ts';

const parsed = (...args: Parameters<typeof openApiText>) => JSON.parse(openApiText(...args));

const formOf = async (line: string) => (await given<{ form: object }>(`openapi ${line}`)).form;

test('without arguments it is OpenAPI 3.1 of any deployment', async () => {
  assert.deepEqual(await formOf(''), { version: '3.1' });
  const { openapi, servers } = parsed({ version: '3.1' });
  assert.match(openapi, /^3\.1\./);
  assert.deepEqual(
    servers.map(({ url }: { url: string }) => url),
    ['https://{domain}', 'https://{api}.execute-api.{region}.amazonaws.com/{stage}'],
  );
});

test('version, server and file', async () => {
  assert.deepEqual(await given('openapi --version 3.0 --server https://api.test/v1/ --out x.json'), {
    form: { version: '3.0' },
    server: 'https://api.test/v1',
    out: 'x.json',
    stage: undefined,
  });
  const { openapi, servers } = parsed({ version: '3.0', server: 'https://api.test/v1' });
  assert.match(openapi, /^3\.0\./);
  assert.deepEqual(servers, [{ url: 'https://api.test/v1' }]);
});

test('for generators it is 3.0, which more of them read, unless another version is asked for', async () => {
  assert.deepEqual(await formOf('--for generators'), { version: '3.0', generators: true });
  assert.deepEqual(await formOf('--for generators --version 3.1'), { version: '3.1', generators: true });
  assert.doesNotMatch(openApiText({ version: '3.0', generators: true }), /"oneOf"/);
});

test('of a stage it has the operations that are open there, and how their callers show who they are', () => {
  const { paths, components, servers } = parsed({ version: '3.1', stage: 'dev' });
  assert.ok(paths['/openapi/market-data/stock/snapshot']);
  assert.equal(paths['/trading/accounts/list'], undefined);
  assert.ok(components.securitySchemes.api_key && !components.securitySchemes.sigv4);
  assert.equal(servers.length, 1);
});

test('of the local run it has all groups with its key, and a token beside it for what belongs to an account', () => {
  const { paths, components, servers } = parsed({ version: '3.1', stage: 'local' });
  const market = paths['/openapi/market-data/stock/snapshot'].get;
  assert.deepEqual(market.security, [{ api_key: [] }]);
  const account = paths['/trading/accounts/list'].get;
  assert.deepEqual(account.security, [{ api_key: [] }, { api_key: [], bearerAuth: [] }]);
  assert.deepEqual(Object.keys(components.securitySchemes), ['api_key', 'bearerAuth']);
  assert.deepEqual(servers[0].url, 'http://localhost:8787');
});

test('a stream is an answer of its own type, which no document for generators has', () => {
  const at = '/market-data/stocks/snapshots/stream';
  for (const version of ['3.1', '3.0'] as const) {
    const { get } = parsed({ version, stage: 'local' }).paths[at];
    assert.equal(get.operationId, 'streamStockSnapshots');
    assert.deepEqual(Object.keys(get.responses[200].content), ['text/event-stream']);
    assert.ok(get.responses[400] && get.responses[403]);
    assert.equal(parsed({ version, stage: 'local', generators: true }).paths[at], undefined);
  }
  // A stage without `live`.
  assert.equal(parsed({ version: '3.1', stage: 'dev' }).paths[at], undefined);
});

test('what says nothing clear is refused', async () => {
  const form = '--version takes 3.1 or 3.0, and --for takes generators.';
  for (const [line, sentence] of [
    ['--version 2.0', form],
    ['--for people', form],
    ['--server api.test', /^--server must be a URL/],
    ['--server https://a.test/?b', /^--server must be a URL/],
    ['--stage nowhere', /^--stage must be one of dev, prod/],
  ] as const)
    await refused(`openapi ${line}`, sentence);
});
