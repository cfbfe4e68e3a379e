/**
 * What an answer of four megabytes costs in memory, however deeply it is nested: at most three times its size, the
 * answer included. The runtime's own profiler counts what is allocated, also what was collected meanwhile.
 */

import assert from 'node:assert/strict';
import { Session } from 'node:inspector/promises';
import { describe, test } from 'vitest';
import { symbolListing } from '../../../lib/catalogue/symbol-listing.ts';
import { createCredentials } from '../../../lib/gateway/credentials.ts';
import { createMemoryCacheStores } from '../../../lib/gateway/index.ts';
import { recordsOf } from '../../../lib/gateway/outcome.ts';
import { createListings } from '../../../lib/gateway/snapshots/upstream.ts';
import {
  gatewayOf,
  orderBody,
  orderPath,
  requestOf,
  secretText,
  snapshotTarget,
} from '../../support/core.ts';

const size = 4 * 1024 * 1024;

const repeated = (open: string, middle: string, close = '') => {
  const times = Math.floor((size - middle.length) / (open.length + close.length));
  return new TextEncoder().encode(open.repeat(times) + middle + close.repeat(times));
};

const answers: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  'lists in a list': new TextEncoder().encode(`[${'[],'.repeat(Math.floor(size / 3) - 2)}[]]`),
  'a list in a list in a list': repeated('[', '', ']'),
  'an object in an object in an object': repeated('{"a":', '1', '}'),
  'objects in a list': new TextEncoder().encode(`[${'{},'.repeat(Math.floor(size / 3) - 2)}{}]`),
  'numbers, each of another size': new TextEncoder().encode(`[${'1.5,'.repeat(size / 4 - 1)}1]`),
};

interface ProfileNode {
  readonly selfSize: number;
  readonly children: readonly ProfileNode[];
}
const sizeOf = ({ selfSize, children }: ProfileNode): number =>
  children.reduce((sum, child) => sum + sizeOf(child), selfSize);

/** Bytes on the heap and in buffers. */
async function allocatedBy(work: () => Promise<unknown>): Promise<number> {
  const session = new Session();
  session.connect();
  const buffers = () => process.memoryUsage().arrayBuffers;
  const before = buffers();
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 4096,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  await work();
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  return sizeOf(profile.head) + Math.max(0, buffers() - before);
}

/** The gateway before an upstream that answers each request so. */
function gatewayFor(status: number, body: Uint8Array<ArrayBuffer>) {
  return gatewayOf({
    cache: createMemoryCacheStores(),
    send: async () => ({ kind: 'answer', status, header: () => undefined, body }),
  });
}

const listTarget = '/trading/instruments/stocks/profiles/list?category=US_STOCK';

test('the profiler sees what parsing such an answer would cost', async () => {
  const body = answers['lists in a list']!;
  const cost = await allocatedBy(async () => JSON.parse(new TextDecoder().decode(body)) as unknown);
  assert.ok(cost > 4 * size, `${cost}`);
});

describe('a page of the list of symbols of four megabytes', () => {
  const wrapped = (bytes: Uint8Array) =>
    new Uint8Array(Buffer.concat([Buffer.from('{"data":'), bytes, Buffer.from('}')]));
  const members = `{${Array.from({ length: size / 16 }, (_, index) => `"${1e9 + index}":1`).join()},"data":[]}`;
  for (const [name, body] of [
    ...Object.entries(answers).map(([name, bytes]) => [name, wrapped(bytes)] as const),
    ['members of an object', new TextEncoder().encode(members)] as const,
  ])
    test(name, async () => {
      const { ask } = createListings(symbolListing, {
        upstream: { fetch: async () => ({ kind: 'uncached', body }) },
        credentials: createCredentials({ source: { read: async () => secretText() }, clock: Date.now }),
        clock: Date.now,
      });
      const cost = await allocatedBy(() => ask(0, undefined, 3000));
      assert.ok(body.length + cost <= 3 * size, `${((body.length + cost) / size).toFixed(1)} times`);
    });
});

describe('snapshots of four megabytes', () => {
  const numbered = Array.from({ length: size / 20 }, (_, index) => `{"symbol":"${1e7 + index}"}`);
  const bodies = {
    'very many records': `[${numbered.join()}]`,
    'one record very many times': `[${numbered.map(() => '{"symbol":"AAPL"}').join()}]`,
    'a very long symbol': `[{"symbol":"${'A'.repeat(size)}"}]`,
  };
  for (const [name, text] of Object.entries(bodies))
    test(name, async () => {
      const body = new TextEncoder().encode(text);
      const gateway = gatewayFor(200, body);
      const cost = await allocatedBy(() => gateway.handle(requestOf(snapshotTarget)));
      assert.ok(body.length + cost <= 3 * size, `${((body.length + cost) / size).toFixed(1)} times`);
      const outcome = { kind: 'uncached', body } as const;
      const ofLookup = await allocatedBy(async () => recordsOf(outcome));
      assert.ok(body.length + ofLookup <= 3 * size, `${((body.length + ofLookup) / size).toFixed(1)} times`);
    });
});

describe('an answer of four megabytes', () => {
  for (const [name, body] of Object.entries(answers))
    for (const [what, status, target, order] of [
      ['to a read', 200, '/trading/accounts/list', undefined],
      ['to a read whose answers are shared', 200, listTarget, undefined],
      ['to a read of snapshots', 200, snapshotTarget, undefined],
      ['to an order', 200, orderPath, orderBody()],
      ['that is a refusal', 417, '/trading/accounts/list', undefined],
    ] as const)
      test(`${what}: ${name}`, async () => {
        const gateway = gatewayFor(status, body);
        const cost = await allocatedBy(() => gateway.handle(requestOf(target, order ? { body: order } : {})));
        assert.ok(body.length + cost <= 3 * size, `${((body.length + cost) / size).toFixed(1)} times`);
      });
});
