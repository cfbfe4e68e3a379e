import assert from 'node:assert/strict';
import { test } from 'vitest';
import { openApiArguments, openApiText } from '../../infra/commands/open-api.ts';
import { StartError } from '../../infra/environment.ts';

const parsed = (...args: Parameters<typeof openApiText>) => JSON.parse(openApiText(...args));

test('without arguments it is OpenAPI 3.1 of any deployment', () => {
  assert.deepEqual(openApiArguments([]), { version: '3.1' });
  const { openapi, servers } = parsed({ version: '3.1' });
  assert.match(openapi, /^3\.1\./);
  assert.deepEqual(
    servers.map(({ url }: { url: string }) => url),
    ['https://{domain}', 'https://{api}.execute-api.{region}.amazonaws.com/{stage}'],
  );
});

test('version, server and file', () => {
  assert.deepEqual(
    openApiArguments(['--version', '3.0', '--server', 'https://api.test/v1/', '--out', 'x.json']),
    { version: '3.0', server: 'https://api.test/v1', out: 'x.json' },
  );
  const { openapi, servers } = parsed({ version: '3.0', server: 'https://api.test/v1' });
  assert.match(openapi, /^3\.0\./);
  assert.deepEqual(servers, [{ url: 'https://api.test/v1' }]);
});

for (const argv of [
  ['--version', '2.0'],
  ['--server', 'api.test'],
  ['--server', 'https://a.test/?b'],
  ['out'],
  ['--x'],
])
  test(`${argv.join(' ')} is refused with the usage`, () => {
    assert.throws(
      () => openApiArguments(argv),
      (error: unknown) => {
        assert.ok(error instanceof StartError);
        assert.match(error.message, /^Usage: npm run --silent openapi/);
        return true;
      },
    );
  });
