/**
 * Every order request that real clients were recorded to send, through the composition of `npm start`: with the limits of
 * that run, with every kind of limit set wide, and with none; in market hours and at night.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { describe, type TestContext, test, vi } from 'vitest';
import { demoLimits } from '../../infra/local/environment.ts';
import { startLocalRun } from '../../infra/local/local-run.ts';
import { openable } from '../../lib/catalogue/index.ts';
import { orderType } from '../../lib/catalogue/order-schemas.ts';
import type { TradingLimits } from '../../lib/guard-rails/index.ts';
import { credentials } from '../support/core.ts';
import { useCalmTime } from '../world/test-time.ts';
import { startRecordingUpstream } from './recording-upstream.ts';

useCalmTime();

interface ClientRequest {
  readonly id: string;
  readonly kind: string;
  readonly usAccount: boolean | 'unclear';
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | null;
}

const recording = new URL('client-requests.json', import.meta.url);
const all = (JSON.parse(readFileSync(recording, 'utf8')) as { readonly requests: readonly ClientRequest[] })
  .requests;
const recorded = all.filter(({ kind, usAccount }) => kind.startsWith('order-') && usAccount === true);

type Members = Readonly<Record<string, unknown>> & { readonly legs?: readonly Members[] };

const apiKey = 'key-of-this-test';

/** Every kind of limit, none of which an honest client meets. */
const wide: TradingLimits = {
  max_order_quantity: '1000000',
  max_order_notional: '100000000',
  max_open_notional: '1000000000',
  max_orders_per_minute: 10_000,
  max_duplicative_orders: { orders: 1000, seconds: 60 },
  allowed_symbols: ['AAPL', 'MSFT', 'TSLA', 'F', 'BRK.B', 'BTCUSD', 'ES', 'MES', 'KXRATECUTCOUNT-26DEC31-T9'],
  restricted_symbols: ['GME'],
  allowed_sides: ['BUY', 'SELL', 'SHORT'],
  allowed_order_types: orderType.options,
  allowed_sessions: ['ALL', 'CORE', 'NIGHT'],
  price_collar: '100000',
  allow_unknown: ['crypto', 'futures'],
};

const hours = {
  'in market hours': Date.UTC(2026, 10, 20, 15),
  'at night': Date.UTC(2026, 10, 21, 3),
};

interface Answered {
  readonly status: number;
  readonly text: string;
}

function send(url: string, { method, target, headers }: ClientRequest, body: string): Promise<Answered> {
  const { hostname, port } = new URL(url);
  const own = headers.filter(([name]) => !/^(host|connection|content-length|accept-encoding)$/i.test(name));
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        host: hostname,
        port,
        method,
        path: target,
        agent: false,
        headers: {
          ...Object.fromEntries(own),
          'x-api-key': apiKey,
          'content-length': Buffer.byteLength(body),
        },
      },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (part: string) => (text += part));
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text })).on('error', reject);
      },
    );
    outgoing.on('error', reject).end(body);
  });
}

/** What became of each: `passed` byte for byte, or the refusal. */
async function replay(
  t: TestContext,
  requests: readonly ClientRequest[],
  tradingLimits: TradingLimits,
): Promise<ReadonlyMap<string, string>> {
  const upstream = await startRecordingUpstream(t);
  const run = await startLocalRun({
    port: 0,
    apiKey,
    openGroups: openable,
    users: [{ name: 'ada', accounts: ['*'] }],
    credentials,
    upstream: { baseUrl: upstream.url },
    tradingLimits,
    orderMembers: ['no_party_ids'],
    marketDataLimit: { requests: 1_000_000, perSeconds: 60 },
  });
  t.onTestFinished(() => run.close());
  const became = new Map<string, string>();
  for (const request of requests) {
    const body = (request.body ?? '').replaceAll('ACCOUNT', upstream.accounts[0]!.account_id);
    const before = upstream.recorded.length;
    const { text } = await send(run.url, request, body);
    const sent = upstream.recorded.slice(before);
    const category = request.headers.find(([name]) => name === 'category')?.[1];
    if (sent.length > 0) assert.deepEqual(sent, [{ target: request.target, category, body }], request.id);
    became.set(request.id, sent.length > 0 ? 'passed' : text);
  }
  return became;
}

const refusedIn = (became: ReadonlyMap<string, string>) =>
  [...became].filter(([, text]) => text !== 'passed').map(([id]) => id);

/** Each is announced by docs/orders.md: there are no quotes of futures. */
const beyondDefaults = ['sdk-fut-limit', 'sdk-fut-stop-limit', 'mcp-fut-limit', 'mcp-fut-stop'];

for (const [name, at] of Object.entries(hours))
  describe(`${recorded.length} order requests of real clients, ${name}`, () => {
    for (const { limits, given, refused } of [
      { limits: 'the limits of npm start', given: demoLimits, refused: beyondDefaults },
      { limits: 'wide limits', given: wide, refused: [] },
      { limits: 'no limits', given: {}, refused: [] },
    ])
      test(`under ${limits} pass byte for byte, but for ${refused.length}`, async (t) => {
        vi.setSystemTime(at);
        assert.deepEqual(refusedIn(await replay(t, recorded, given)), refused);
      });
  });

/** Forms of the clients' samples that were not recorded, each made of an order that was. */
const forms: readonly (readonly [form: string, of: string, change: (order: Members) => object])[] = [
  [
    'legs alone name it',
    'sdk-opt-single',
    ({ instrument_type: _, market: __, symbol: ___, ...order }) => order,
  ],
  [
    'legs alone name it',
    'sdk-opt-iron-condor',
    ({ instrument_type: _, market: __, symbol: ___, ...order }) => order,
  ],
  [
    'a preview of legs alone',
    'mcp-opt-preview',
    ({ instrument_type: _, market: __, symbol: ___, ...order }) => order,
  ],
  [
    'no market in a leg',
    'sdk-opt-single',
    (order) => ({ ...order, legs: order.legs?.map(({ market: _, ...leg }) => leg) }),
  ],
  ['no combo_type', 'sdk-eq-limit-day', ({ combo_type: _, ...order }) => order],
  ['no combo_type in a batch', 'sdk-batch-two', ({ combo_type: _, ...order }) => order],
  ['extended hours', 'mcp-eq-limit', (order) => ({ ...order, extended_hours: true })],
  ['no extended hours', 'mcp-eq-limit', (order) => ({ ...order, extended_hours: false })],
  ...['N', 'Y', 'ALL_DAY', 'NIGHT'].map(
    (session) =>
      [
        `session ${session}`,
        'sdk-eq-market',
        (order: Members) => ({ ...order, support_trading_session: session }),
      ] as const,
  ),
  ['a tax class', 'sdk-eq-limit-day', (order) => ({ ...order, account_tax_type: 'GENERAL' })],
  ['a share of the volume as a number', 'sdk-algo-pov', (order) => ({ ...order, target_vol_percent: 10 })],
  ['the most of the volume as a number', 'sdk-algo-twap', (order) => ({ ...order, max_target_percent: 20 })],
  ['a position as a number', 'sdk-opt-leg-in', (order) => ({ ...order, position_id: 42 })],
  [
    'a list that the stage admits',
    'sdk-eq-limit-day',
    (order) => ({ ...order, no_party_ids: [{ party_id: '7' }] }),
  ],
  [
    'a leg by its id alone',
    'mcp-opt-replace',
    ({ legs: _, ...order }) => ({ ...order, limit_price: '22', legs: [{ id: 'LEG1' }] }),
  ],
  [
    'a day until which it is good',
    'sdk-replace-qty-only',
    (order) => ({ ...order, time_in_force: 'GTD', expire_date: '2026-12-18' }),
  ],
];

const formed = forms.map(([form, of, change], index): ClientRequest => {
  const request = recorded.find(({ id }) => id === of)!;
  const body = JSON.parse(request.body!);
  const list = ['new_orders', 'batch_orders', 'modify_orders'].find((name) => body[name])!;
  const renamed = (order: Members, at: number) =>
    list === 'modify_orders' ? order : { ...order, client_order_id: `form-${index}-of-order-${at}` };
  const changed = body[list].map((order: Members, at: number) => renamed(change(order) as Members, at));
  return { ...request, id: `${form}: ${of}`, body: JSON.stringify({ ...body, [list]: changed }) };
});

test('forms of the clients’ samples pass byte for byte under wide limits', async (t) => {
  vi.setSystemTime(hours['in market hours']);
  const before = recorded.filter(({ id }) => id === 'sdk-eq-limit-day');
  assert.deepEqual(refusedIn(await replay(t, [...before, ...formed], wide)), []);
});
