/** The document of the page on which a person tries calls. */

import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, test, vi } from 'vitest';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { each } from '../support/each.ts';
import { freePorts } from '../support/free-ports.ts';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description: string;
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': {
        readonly example?: object;
        readonly examples?: Readonly<Record<string, { readonly value: Body }>>;
      };
    };
  };
}

interface Body {
  readonly account_id: string;
  readonly new_orders?: readonly Order[];
  readonly batch_orders?: readonly Order[];
}

type Order = { readonly client_order_id: string; readonly order_type: string };

interface Shown {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const key = 'a-key-that-is-nowhere';
/** A Friday's session, and the night after it. */
const [open, closed] = [Date.UTC(2026, 10, 20, 15), Date.UTC(2026, 10, 21, 3)];
vi.useFakeTimers({ now: open, shouldAdvanceTime: true, toFake: ['Date'] });
afterAll(() => void vi.useRealTimers());
const settings = readSettings({ ...freePorts, API_KEY: key });
const run = await startLocalRun(settings);
afterAll(() => run.close());
const read = async (path: string) => (await (await fetch(run.url + path)).json()) as Shown;
const [shown, exact] = [await read('/docs/openapi.json'), await read('/openapi.json')];
const operationsOf = ({ paths }: Shown) => Object.values(paths).flatMap((methods) => Object.values(methods));
const idsWith = (tag: string) =>
  operationsOf(shown).flatMap(({ operationId, tags }) => (tags.includes(tag) ? [operationId] : []));

test('what a person calls first stands first, and older forms stand apart', () => {
  assert.deepEqual(shown.tags.map(({ name }) => name).slice(0, 3), ['market-data', 'orders', 'accounts']);
  assert.equal(shown.tags.at(-1)?.name, 'older-forms');
  assert.deepEqual(idsWith('market-data').slice(0, 3), [
    'getStockSnapshots',
    'streamStockSnapshots',
    'getOptionSnapshots',
  ]);
  assert.deepEqual(idsWith('orders').slice(0, 4), [
    'placeOrder',
    'batchPlaceOrders',
    'replaceOrder',
    'cancelOrder',
  ]);
  const older = operationsOf(exact).filter(({ operationId }) => operationId.startsWith('legacy'));
  assert.deepEqual(idsWith('older-forms').sort(), older.map(({ operationId }) => operationId).sort());
});

test('it has every operation of the exact document, and every word of its descriptions', () => {
  const described = (document: Shown) =>
    new Map(operationsOf(document).map(({ operationId, description }) => [operationId, description]));
  const all = described(shown);
  assert.deepEqual([...all.keys()].sort(), [...described(exact).keys()].sort());
  for (const [id, text] of described(exact))
    for (const paragraph of text.split('\n\n'))
      assert.ok(all.get(id)?.includes(paragraph), `${id}: ${paragraph}`);
  assert.ok(shown.info.description.includes(exact.info.description));
});

test.each([
  ['in a session', open],
  ['after it, but for those for the day,', closed],
])('%s the simulator takes each example of an order, and fills those that say so', async (_, hour) => {
  vi.setSystemTime(hour);
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const sent = Object.entries(shown.paths).flatMap(([path, { post }]) =>
    Object.entries(post?.requestBody?.content['application/json'].examples ?? {}).map(
      ([name, { value }], index) => {
        const body = JSON.stringify(value).replaceAll(/gw-\d+-\w+/g, (id) => `${id}-${hour}-${index}`);
        return { path, name, body, places: post?.operationId !== 'previewOrder' };
      },
    ),
  );
  assert.deepEqual(
    sent.map(({ name }) => name),
    Array(3).fill(['filled', 'resting']).flat(),
  );
  const filled: string[] = [];
  for (const { path, name, body, places } of sent) {
    const answer = await fetch(run.url + path, { method: 'POST', headers, body });
    const text = await answer.text();
    const isRefused = hour === closed && body.includes('"DAY"');
    assert.equal(text.includes('DAY_ORDER_NOT_ALLOWED'), isRefused, text);
    if (isRefused) continue;
    assert.equal(answer.status, 200, text);
    if (name === 'filled' && places)
      filled.push(...each([...body.matchAll(/"client_order_id":"([^"]+)"/g)], 1));
  }
  assert.ok(filled.length > 0);
  const account = run.simulator?.accounts[0]?.account_id;
  for (const id of filled) {
    const order = `${run.url}/trading/orders/get?account_id=${account}&client_order_id=${id}`;
    while (!(await (await fetch(order, { headers })).text()).includes('"FILLED"')) await delay(250);
  }
});
