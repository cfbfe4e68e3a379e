/** What `npm run secret:set` says when it cannot do it: one line, without the secret. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { test } from 'vitest';

const main = fileURLToPath(new URL('../../infra/commands/secret-set-main.ts', import.meta.url));
const secret = { app_key: 'canary-key', app_secret: 'canary-secret' };

async function secretSet(args: readonly string[], endpoint: string) {
  const child = spawn(process.execPath, ['--import', 'tsx', main, ...args], {
    env: {
      PATH: process.env.PATH,
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  // It may end before it reads.
  child.stdin.on('error', () => {}).end(JSON.stringify(secret));
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, output };
}

test('arguments that are no stage are one usage line, which does not repeat them', async () => {
  for (const args of [
    ['Canary-secret'],
    ['{"app_secret":"canary"}'],
    [`a${'b'.repeat(32)}`],
    ['dev', 'canary'],
  ]) {
    const { code, output } = await secretSet(args, 'http://127.0.0.1:9');
    assert.equal(code, 1);
    assert.match(output, /^Usage: npm run secret:set [^\n]*\n$/);
    assert.ok(!/canary|bbb/i.test(output), output);
  }
});

test('a secret that may not be written is one line with the error’s name', async (t) => {
  const arn = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:s';
  const stack = `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>Countersign-test</StackName>
    <Outputs><member><OutputKey>SecretArn</OutputKey><OutputValue>${arn}</OutputValue></member></Outputs>
    </member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  const server = createServer((request, response) => {
    if (!request.headers['x-amz-target'])
      return void response.writeHead(200, { 'content-type': 'text/xml' }).end(stack);
    response
      .writeHead(400, { 'content-type': 'application/x-amz-json-1.1' })
      .end(JSON.stringify({ __type: 'AccessDeniedException', message: `no to ${secret.app_secret}` }));
  }).listen(0, '127.0.0.1');
  t.onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));

  const { port } = server.address() as AddressInfo;
  assert.deepEqual(await secretSet(['test'], `http://127.0.0.1:${port}`), {
    code: 1,
    output: 'The secret of Countersign-test cannot be written: AccessDeniedException.\n',
  });
});
