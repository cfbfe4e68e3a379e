import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, test } from 'vitest';
import { compress } from '../../../functions/aws/brotli.ts';
import type { Operation } from '../../../lib/catalogue/index.ts';
import {
  batchPlaceOrders,
  cancelOrder,
  listOptionBars,
  listStockBars,
  listStockFootprints,
  operations,
  placeOrder,
  previewOrder,
  replaceOrder,
} from '../../../lib/catalogue/index.ts';
import { findRoute, routesOf } from '../../../lib/catalogue/routes.ts';
import type { Gateway } from '../../../lib/gateway/index.ts';
import { recordsFault } from '../../../lib/gateway/validate.ts';
import {
  accountId,
  accountsPath,
  ask,
  coreFor,
  type Draft,
  newOrder,
  orderBody,
  orderPath,
  type Problem,
  problemOf,
  requestOf,
  snapshotPath,
} from '../../support/core.ts';

/** Symbols that come again count again: an answer has each of them. */
const many = (count: number, symbol = 'AAPL') => Array<string>(count).fill(symbol);
const barsFor = (symbols: readonly string[], count?: number | string | null) =>
  JSON.stringify({ symbols, category: 'US_STOCK', timespan: 'D', ...(count !== undefined && { count }) });
const [option, daily] = ['AAPL270115C00240000', 'category=US_OPTION&timespan=D'];

/** What the answer says of one parameter. */
const wrong = (name: string, detail: string, allowed?: string, received?: string) => ({
  in: 'query',
  name,
  detail,
  ...(allowed !== undefined && { allowed }),
  ...(received !== undefined && { received }),
});

/** Calls that are refused before anything is signed, each with all that the answer says about it. */
const wrongQueries: readonly (readonly [
  name: string,
  target: string,
  errors: NonNullable<Problem['errors']>,
])[] = [
  [
    'an unknown parameter',
    `${snapshotPath}?symbols=AAPL&category=US_STOCK&symbol=MSFT`,
    [
      wrong(
        'symbol',
        'unknown parameter',
        'symbols, category, extend_hour_required, overnight_required',
        'MSFT',
      ),
    ],
  ],
  [
    'a name that every object has',
    `${accountsPath}?constructor=2`,
    [wrong('constructor', 'unknown parameter', 'no parameters', '2')],
  ],
  [
    'a repeated parameter',
    `${snapshotPath}?symbols=AAPL&category=US_STOCK&category=US_ETF`,
    [wrong('category', 'given more than once', 'one of US_STOCK, US_ETF', 'US_ETF')],
  ],
  [
    'missing parameters, all of them named',
    snapshotPath,
    [
      wrong('symbols', 'required', '1 to 100 values separated by commas, none empty'),
      wrong('category', 'required', 'one of US_STOCK, US_ETF'),
    ],
  ],
  [
    'one symbol too many, of which the answer shows the beginning',
    `${snapshotPath}?symbols=${Array(101).fill('AAPL')}&category=US_STOCK`,
    [
      wrong(
        'symbols',
        'not an allowed value',
        '1 to 100 values separated by commas, none empty',
        `${'AAPL,'.repeat(20)}…`,
      ),
    ],
  ],
  [
    'an ampersand in a value',
    `${snapshotPath}?symbols=A%26category%3DUS_ETF&category=US_STOCK`,
    [wrong('symbols', 'the signature cannot carry & here, nor = in a name', undefined, 'A&category=US_ETF')],
  ],
];

describe('a query with', () => {
  for (const [name, target, errors] of wrongQueries) {
    test(`${name} is answered 400`, async (t) => {
      const { gateway, simulator } = await coreFor(t);
      const problem = problemOf(await ask(gateway, target), {
        status: 400,
        code: 'invalid_parameter',
        error_code: 'INVALID_PARAMETER',
        errors,
      });
      for (const error of problem.errors ?? [])
        assert.ok(problem.message.includes(`${error.name}: ${error.detail}`));
      assert.equal(simulator.received.length, 0);
    });
  }

  test('100 symbols is served', async (t) => {
    const { gateway } = await coreFor(t);
    const reply = await ask(gateway, `${snapshotPath}?symbols=${Array(100).fill('AAPL')}&category=US_STOCK`);
    assert.equal(reply.status, 200, reply.text);
  });
});

describe('an operation that takes any query', () => {
  for (const [name, pair] of [
    ['an ampersand in a name', ['a&b', '1']],
    ['an equals sign in a name', ['a=b', '1']],
    ['an ampersand in a value', ['a', '1&b=2']],
  ] as const) {
    test(`refuses ${name}: it would sign like other parameters`, async (t) => {
      const { gateway, simulator } = await coreFor(t);
      const problem = problemOf(
        await ask(gateway, orderPath, { body: orderBody(), query: [['fine', '0'], pair] }),
      );
      assert.equal(problem.status, 400);
      assert.deepEqual(problem.errors, [
        {
          in: 'query',
          name: pair[0],
          detail: 'the signature cannot carry & here, nor = in a name',
          received: pair[1],
        },
      ]);
      assert.equal(simulator.received.length, 0);
    });
  }

  test('sends every other, in whatever order, so that it verifies', async (t) => {
    const { gateway, simulator } = await coreFor(t, {
      fault: () => ({ kind: 'status', status: 200, body: '{"order_id":"1"}' }),
    });
    const text = fc.string({ unit: 'binary', maxLength: 5 }).map((written) => written.replaceAll('&', ''));
    const name = fc.oneof(
      text.map((written) => written.replaceAll('=', '') || '-'),
      fc.constantFrom('a', 'b', 'x-app-keys', 'hosts', 'x-zzz', '__proto__'),
    );
    const isOnce = (of: string, all: readonly (readonly [string, string])[]) =>
      all.filter(([one]) => one === of).length === 1;
    const queries = fc
      .array(fc.tuple(name, text), { maxLength: 6 })
      .map((all) =>
        all.map(([one, value]) => [one, isOnce(one, all) ? value : value.replaceAll('=', '')] as const),
      );
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        const reply = await ask(gateway, orderPath, { body: orderBody(), query });
        assert.equal(reply.status, 200, reply.text);
        const received = simulator.received.at(-1);
        assert.equal(received?.outcome, 'fault');
        assert.deepEqual([...new URLSearchParams(received?.target.split('?')[1])], query);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a query that came by another way than HTTP', () => {
  for (const query of [[['symbols', 'A\ud800']], [['a\udc00', 'x']]] as const)
    test(`with half a surrogate pair in ${JSON.stringify(query)} is answered 400`, async (t) => {
      const { gateway, simulator } = await coreFor(t);
      const response = await gateway.handle({
        method: 'POST',
        path: orderPath,
        query,
        headers: {},
        requestId: 'r',
      });
      assert.equal(response.status, 400);
      assert.equal(simulator.received.length, 0);
    });
});

describe('a body', () => {
  const bytes = (...parts: readonly (string | number)[]) =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))));

  const wrongBodies: readonly (readonly [
    name: string,
    target: string,
    draft: Draft,
    detail: RegExp,
    method?: string,
  ])[] = [
    ['that is missing', orderPath, {}, /placeOrder needs a JSON body/, 'POST'],
    ['of no bytes', orderPath, { body: '' }, /placeOrder needs a JSON body/],
    ['of a GET', accountsPath, { body: '{}' }, /listAccounts takes no body/, 'GET'],
    [
      'that is not JSON',
      orderPath,
      { body: "{\n 'a':1}" },
      /^The body is not valid JSON: at line 2, column 2 a name in double quotes or } is expected\.$/,
    ],
    [
      'with a byte order mark',
      orderPath,
      { body: `\ufeff${orderBody()}` },
      /not valid JSON: it begins with a byte order mark\.$/,
    ],
    [
      'with a key twice deep inside',
      orderPath,
      { body: '{"new_orders":[{"legs":[{"side":1,"side":2}]}]}' },
      /"side" occurs twice/,
    ],
    ['that is not UTF-8', orderPath, { body: bytes('{"account_id":"', 0xff, '"}') }, /not UTF-8/],
    ['in Latin 1', orderPath, { body: bytes('{"account_id":"', 0xe9, '"}') }, /not UTF-8/],
    ['with half a character', orderPath, { body: bytes('{"account_id":"', 0xf0, 0x9f, '"}') }, /not UTF-8/],
    ['with a surrogate in UTF-8', orderPath, { body: bytes('{"a":"', 0xed, 0xa0, 0x80, '"}') }, /not UTF-8/],
  ];
  for (const [name, target, draft, detail, method] of wrongBodies) {
    test(`${name} is answered 400`, async (t) => {
      const { gateway, simulator } = await coreFor(t);
      const problem = problemOf(await ask(gateway, target, draft, method), {
        status: 400,
        code: 'invalid_body',
        error_code: 'INVALID_PARAMETER',
      });
      assert.match(problem.detail, detail);
      assert.equal(problem.message, problem.detail);
      assert.equal(simulator.received.length, 0);
    });
  }

  test('that is compressed is answered 415, and the answer says how', async (t) => {
    const { gateway, simulator } = await coreFor(t);
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const reply = await ask(gateway, orderPath, { body: new Uint8Array(gzipSync(orderBody())), headers });
    const problem = problemOf(reply, { status: 415, code: 'unsupported_media_type' });
    assert.match(problem.detail, /content-encoding gzip: send it as it is/);
    assert.equal(simulator.received.length, 0);
  });

  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json5',
    'text/json',
    '',
    undefined,
  ]) {
    test(`of type ${JSON.stringify(type)} is answered 415`, async (t) => {
      const { gateway, simulator } = await coreFor(t);
      const { headers, ...request } = requestOf(orderPath, { body: orderBody() });
      const { 'content-type': _, ...others } = headers;
      const typed = {
        ...request,
        headers: { ...others, ...(type !== undefined && { 'content-type': type }) },
      };
      const { status, body } = await gateway.handle(typed);
      const { code, detail } = JSON.parse(new TextDecoder().decode(body));
      assert.deepEqual([status, code], [415, 'unsupported_media_type']);
      assert.match(detail, /Content-Type: application\/json.*not sent/);
      assert.equal(simulator.received.length, 0);
    });
  }

  for (const type of [
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json ; a=b',
  ]) {
    test(`of type ${JSON.stringify(type)} is taken, and sent as application/json`, async (t) => {
      const { gateway, simulator } = await coreFor(t);
      const reply = await ask(gateway, orderPath, { body: orderBody(), headers: { 'content-type': type } });
      assert.equal(reply.status, 200, reply.text);
      assert.equal(simulator.received[0]?.headers['content-type'], 'application/json');
    });
  }

  test('arrives compact, with every token as written, and verifies', async (t) => {
    const { gateway, simulator } = await coreFor(t);
    const order = JSON.stringify(newOrder()).replace(
      '{',
      '{ "note" : "\\u003cb\\u003e \\u0026 \\u00e9", "figure" : 1.10,\n',
    );
    const body = `{ "new_orders" : [ ${order} ] ,\t"big" : 12345678901234567890, "account_id" : "${accountId}" }\r\n`;
    // Of what is placed, each member is known.
    const reply = await ask(gateway, '/trading/orders/preview', { body });
    assert.equal(reply.status, 200, reply.text);
    const [received] = simulator.received;
    assert.equal(received?.outcome, 'ok');
    assert.match(
      received?.body ?? '',
      /^\{"new_orders":\[\{"note":"<b> & \\u00e9","figure":1\.10,"client_order_id"/,
    );
    assert.match(received?.body ?? '', /\],"big":12345678901234567890,"account_id":"\w+"\}$/);
  });
});

describe('a body against its schema', () => {
  async function errorsOf(t: Parameters<typeof coreFor>[0], body: string, operations?: readonly Operation[]) {
    const { gateway, simulator } = await coreFor(t, {}, operations && { operations });
    const problem = problemOf(await ask(gateway, orderPath, { body }), {
      status: 400,
      code: 'invalid_parameter',
    });
    assert.equal(simulator.received.length, 0);
    return problem.errors;
  }

  test('has each wrong place named by its JSON Pointer, with what is allowed and what came', async (t) => {
    const order = {
      ...newOrder({ side: 'HOLD', quantity: true, limit_price: '1,5' }),
      entrust_type: undefined,
    };
    assert.deepEqual(await errorsOf(t, JSON.stringify({ new_orders: [newOrder(), order] })), [
      { in: 'body', name: '/account_id', detail: 'required' },
      { in: 'body', name: '/new_orders/1/entrust_type', detail: 'required' },
      {
        in: 'body',
        name: '/new_orders/1/side',
        detail: 'not an allowed value',
        allowed: 'one of BUY, SELL, SHORT',
        received: '"HOLD"',
      },
      {
        in: 'body',
        name: '/new_orders/1/quantity',
        detail: 'not an allowed value',
        allowed: 'string',
        received: 'true',
      },
      {
        in: 'body',
        name: '/new_orders/1/limit_price',
        detail: 'not an allowed value',
        allowed: 'a decimal number in a string',
        received: '"1,5"',
      },
    ]);
  });

  test('has the query’s faults named beside it', async (t) => {
    const { gateway } = await coreFor(t);
    const problem = problemOf(
      await ask(gateway, orderPath, { body: '{"new_orders":[]}', query: [['a&', 'b']] }),
    );
    assert.deepEqual(
      problem.errors?.map((error) => [error.in, error.name]),
      [
        ['query', 'a&'],
        ['body', '/account_id'],
        ['body', '/new_orders'],
      ],
    );
  });

  test('that is no object at all is named as a whole', async (t) => {
    for (const body of ['null', '1', '"text"'])
      assert.deepEqual(await errorsOf(t, body), [
        { in: 'body', name: '/', detail: 'not an allowed value', allowed: 'Object', received: body },
      ]);
  });

  test('escapes ~ and / in pointers, in the order that RFC 6901 wants', async (t) => {
    const body = v.looseObject({ 'a/b': v.looseObject({ 'm~n': v.string(), '~1': v.string() }) });
    const errors = await errorsOf(t, '{"a/b":{"m~n":1}}', [{ ...placeOrder, body }]);
    assert.deepEqual(
      errors?.map((error) => error.name),
      ['/a~1b/m~0n', '/a~1b/~01'],
    );
  });

  test('has at most 20 wrong places named and the others counted, and long values shown by their beginning', async (t) => {
    const orders = Array.from({ length: 30 }, () => newOrder({ side: 'x'.repeat(150) }));
    const errors = await errorsOf(t, JSON.stringify({ account_id: accountId, new_orders: orders }));
    assert.equal(errors?.length, 21);
    assert.deepEqual(errors?.at(-1), { in: 'body', name: '/', detail: '10 more faults' });
    assert.deepEqual(errors?.at(-2), {
      in: 'body',
      name: '/new_orders/19/side',
      detail: 'not an allowed value',
      allowed: 'one of BUY, SELL, SHORT',
      received: `"${'x'.repeat(99)}…`,
    });
  });

  test('has one wrong place named when it is larger than people write, so that it cannot fill the memory', async (t) => {
    const first = [
      { in: 'body', name: '/new_orders/0/client_order_id', detail: 'required' },
      { in: 'body', name: '/', detail: 'perhaps more: of a body this long the first fault is named' },
    ];
    for (const [operation, items, padding] of [
      [previewOrder, 4000, ''],
      [previewOrder, 101, ''],
      [placeOrder, 96, 'x'.repeat(16_384)],
    ] as const) {
      const orders = `[${'{},'.repeat(items - 1)}{}]`;
      const body = `{"account_id":"${accountId}","client_combo_order_id":"${padding}","new_orders":${orders}}`;
      assert.deepEqual(await errorsOf(t, body, [{ ...operation, path: orderPath, aliases: [] }]), first);
    }
  });

  test('has no item looked at of a list that is longer than it may be', async (t) => {
    const body = `{"account_id":"${accountId}","new_orders":[${'{},'.repeat(4000)}{}]}`;
    assert.deepEqual(await errorsOf(t, body), [
      { in: 'body', name: '/new_orders', detail: 'too long', allowed: '<=96', received: '4001' },
    ]);
  });

  // Half a million brackets took half a second, and other callers waited.
  test('that is longer than any of its operation is answered 413, unread', async (t) => {
    const { gateway, simulator } = await coreFor(t);
    for (const [{ path, id }, largest] of [
      [placeOrder, 128],
      [previewOrder, 128],
      [listStockBars, 8],
      [cancelOrder, 4],
    ] as const) {
      const refusalOf = async (body: string) => problemOf(await ask(gateway, path, { body }));
      const bytes = largest * 1024;
      assert.equal((await refusalOf('['.repeat(bytes))).code, 'invalid_body', id);
      const { code, detail } = await refusalOf('['.repeat(bytes + 1));
      assert.deepEqual([code, detail], ['payload_too_large', `A body of ${id} may have ${bytes} bytes.`]);
    }
    assert.equal(simulator.received.length, 0);
  });

  test('with an object of more members than any has is answered 400', async (t) => {
    const { gateway } = await coreFor(t);
    const members = (count: number) => `{${Array.from({ length: count }, (_, at) => `"${at}":0`).join()}}`;
    assert.equal(problemOf(await ask(gateway, orderPath, { body: members(1000) })).code, 'invalid_parameter');
    const { code, detail } = problemOf(await ask(gateway, orderPath, { body: members(1001) }));
    assert.deepEqual([code, detail], ['invalid_body', 'An object of the body has more than 1000 members.']);
  });

  test('that is nested deeper, or has more values, than any has is answered 400, unsent', async (t) => {
    const { gateway, simulator } = await coreFor(t);
    for (const { path } of [placeOrder, previewOrder, batchPlaceOrders, replaceOrder])
      for (const [value, detail] of [
        ['['.repeat(32) + ']'.repeat(32), 'The body has more than 32 levels.'],
        [`[${'[],'.repeat(4100)}[]]`, 'The body has more than 8192 values and names.'],
      ] as const) {
        const body = `{"account_id":"${accountId}","more":${value}}`;
        const problem = problemOf(await ask(gateway, path, { body }));
        assert.deepEqual([problem.status, problem.code, problem.detail], [400, 'invalid_body', detail], path);
      }
    assert.equal(simulator.received.length, 0);
  });

  // Each order's entry has the whole body, and DynamoDB takes 4 MB in one transaction.
  test('is answered 413 where its orders would not fit into one transaction of the journal', async (t) => {
    const { gateway, simulator } = await coreFor(t);
    const plain = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index))
      .join('')
      .replace(/["\\]/g, '');
    const random = (length: number) =>
      Array.from({ length }, () => plain[Math.floor(Math.random() * plain.length)]).join('');
    const bodyOf = (count: number, bytes: number) => {
      const new_orders = Array.from({ length: count }, () => newOrder());
      const members = { account_id: accountId, new_orders, client_combo_order_id: '' };
      const left = bytes - JSON.stringify(members).length;
      return JSON.stringify({ ...members, client_combo_order_id: random(left) });
    };
    for (const [count, bytes] of [
      [32, 128 * 1024],
      [64, 64 * 1024],
      [96, Math.floor((4 * 1024 * 1024) / 96)],
    ] as const) {
      const largest = bodyOf(count, bytes);
      const stored = compress(Buffer.from(JSON.stringify({ asked: largest }))).length + 2048;
      assert.ok(stored * count < 4_000_000, `${stored * count}`);
      assert.notEqual(problemOf(await ask(gateway, orderPath, { body: largest })).status, 413);
      const sent = simulator.received.length;
      const larger = problemOf(await ask(gateway, orderPath, { body: bodyOf(count + 1, bytes) }));
      assert.deepEqual(
        [larger.status, larger.code],
        count < 96 ? [413, 'payload_too_large'] : [400, 'invalid_parameter'],
      );
      const longer = problemOf(await ask(gateway, orderPath, { body: bodyOf(count, bytes + 1) }));
      assert.deepEqual([longer.status, longer.code], [413, 'payload_too_large']);
      assert.equal(simulator.received.length, sent);
    }
  });
});

describe('records of an answer', () => {
  const refusalOf = async (gateway: Gateway, target: string, draft: Draft = {}) => {
    const { code, errors = [], detail } = problemOf(await ask(gateway, target, draft), { status: 400 });
    assert.equal(code, 'invalid_parameter');
    return { ...errors[0]!, told: detail };
  };

  test('more than one answer has room for are refused before they are sent, and in how many to ask', async (t) => {
    const { gateway, simulator } = await coreFor(t);
    const { told, ...fault } = await refusalOf(gateway, listStockBars.path, {
      body: barsFor(many(20), 1650),
    });
    const detail =
      '20 symbols with 1650 records each are 33000, and one answer has room for 5825: send several requests, with fewer symbols or a smaller count';
    const allowed = 'at most 291 for each of 20 symbols';
    assert.deepEqual(fault, { in: 'body', name: '/count', detail, allowed, received: '1650' });
    assert.equal(told, `/count: ${detail} (${allowed})`);
    assert.equal(
      (await refusalOf(gateway, listStockBars.path, { body: barsFor(many(4), '1650') })).in,
      'body',
    );
    for (const [path, query] of [
      [listOptionBars.path, `symbols=${many(20, option)}&${daily}&count=1200`],
      ['/openapi/market-data/option/bars', `symbols=${many(20, option)}&${daily}&count=1200`],
    ])
      assert.equal((await refusalOf(gateway, `${path}?${query}`)).name, 'count', path);
    assert.equal(simulator.received.length, 0);
  });

  test('that one answer has room for pass: as many as are allowed, and as many as come without a count', async (t) => {
    const { gateway } = await coreFor(t);
    for (const body of [
      barsFor(many(20), 291),
      barsFor(many(20)),
      barsFor(many(20), null),
      barsFor(many(1), 1650),
      barsFor(many(20), 291).replace('"D"', '"M1","trading_sessions":"PRE,RTH,ATH,OVN"'),
    ]) {
      const reply = await ask(gateway, listStockBars.path, { body });
      assert.equal(reply.status, 200, reply.text);
      assert.ok(reply.body.length < 1024 * 1024);
    }
    for (const target of [
      `${listOptionBars.path}?symbols=${many(20, option)}&${daily}`,
      `${listStockFootprints.path}?symbols=AAPL&category=US_STOCK&timespan=M5&count=1200`,
      // The size of a footprint is not known before.
      `${listStockFootprints.path}?symbols=${many(20)}&category=US_STOCK&timespan=M5&count=100`,
    ])
      assert.equal((await ask(gateway, target)).status, 200, target);
  });

  test('are not counted where a request does not say how many it brings', async (t) => {
    const { gateway, simulator } = await coreFor(t);
    const symbols = { toString: 1, valueOf: 1 };
    const body = JSON.stringify({ account_id: accountId, client_order_id: 'a', symbols, count: symbols });
    await ask(gateway, cancelOrder.path, { body });
    assert.equal(simulator.received.length, 1);
  });

  test('a larger one is passed on by a gateway whose answers may be larger', async (t) => {
    const { gateway } = await coreFor(t, {}, { maxAnswerBytes: 8 * 1024 * 1024 });
    const reply = await ask(gateway, listStockBars.path, { body: barsFor(many(20), 1200) });
    assert.equal(reply.status, 200);
    assert.ok(reply.body.length > 1024 * 1024);
  });

  test('no request that a real client was recorded to send asks for more', () => {
    const recording = new URL('../../existing-clients/client-requests.json', import.meta.url);
    const { requests } = JSON.parse(readFileSync(recording, 'utf8')) as {
      readonly requests: readonly Readonly<Record<'method' | 'target' | 'body', string>>[];
    };
    const routes = routesOf(operations);
    let bounded = 0;
    for (const { method, target, body } of requests) {
      const { pathname, searchParams } = new URL(target, 'https://a.example');
      const match = findRoute(routes, method, pathname);
      if (match.kind !== 'route') continue;
      const { operation } = match.route;
      const asked = { ...Object.fromEntries(searchParams), ...(JSON.parse(body ?? '{}') as object) };
      assert.equal(recordsFault(operation, asked), undefined, target);
      bounded += Number(operation.recordBytes !== undefined);
    }
    assert.ok(bounded >= 3, `${bounded}`);
  });
});
