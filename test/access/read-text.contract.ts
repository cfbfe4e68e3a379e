/** What every form of the port ReadText does, against a real server on loopback. */

import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import { describe, type TestContext, test } from 'vitest';
import type { ReadText } from '../../lib/access/index.ts';
import { urlFor } from '../support/listening.ts';

async function serve(t: TestContext, answer: (response: ServerResponse) => void) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.accept}`);
    if (request.url === '/elsewhere') response.end('"the redirect was followed"');
    else answer(response);
  });
  return { url: `${await urlFor(t, server)}/keys`, asked };
}

const limits = { timeoutMs: 60_000, maxBytes: 1000 };

export function readTextContract(name: string, create: () => ReadText): void {
  describe(name, () => {
    test('reads a text of the largest size', async (t) => {
      const text = `${'é'.repeat(499)}ab`;
      const { url, asked } = await serve(t, (response) => response.end(text));
      assert.equal(await create()(url, limits), text);
      assert.deepEqual(asked, ['GET /keys application/json']);
    });

    const refused: Readonly<Record<string, (response: ServerResponse) => void>> = {
      'a text that is a byte too large': (response) => response.end('a'.repeat(1001)),
      'a text without end': (response) => {
        const write = () =>
          void (response.destroyed || response.write('a'.repeat(500), () => setImmediate(write)));
        write();
      },
      'a redirect': (response) => response.writeHead(302, { location: '/elsewhere' }).end('{}'),
      'a failure': (response) => response.writeHead(500).end('{}'),
      'a 204': (response) => response.writeHead(204).end(),
      'bytes that are not UTF-8': (response) => response.end(Buffer.of(0x22, 0xff, 0x22)),
      'a connection that breaks': (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('a', () => response.destroy());
      },
    };
    for (const [what, answer] of Object.entries(refused))
      test(`rejects ${what}`, async (t) => {
        const { url, asked } = await serve(t, answer);
        await assert.rejects(create()(url, limits));
        assert.equal(asked.length, 1);
      });

    test('rejects what does not come in time', async (t) => {
      const { url } = await serve(t, () => {});
      await assert.rejects(create()(url, { ...limits, timeoutMs: 20 }));
    });

    test('rejects where nothing listens', () => assert.rejects(create()('http://127.0.0.1:1/keys', limits)));
  });
}
