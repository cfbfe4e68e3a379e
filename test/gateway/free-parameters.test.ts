/** Query parameters that no source names: what an order takes along, and what never. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { placeOrder } from '../../lib/catalogue/index.ts';
import { createClient, direct } from '../../lib/client/index.ts';
import { createSigner } from '../../lib/signer/index.ts';
import {
  accountId,
  ask,
  coreFor,
  credentials,
  newOrder,
  orderBody,
  orderPath,
  problemOf,
} from '../support/core.ts';

const reserved = [
  ...['host', 'x-app-key', 'x-timestamp', 'x-version', 'x-access-token', 'account_id', 'x-signature'],
  ...['x-signature-algorithm', 'x-signature-version', 'x-signature-nonce', 'x-signature-of-tomorrow'],
];

/** The name with some letters in the other case. */
const inAnyCase = fc
  .tuple(fc.constantFrom(...reserved), fc.array(fc.boolean(), { minLength: 32, maxLength: 32 }))
  .map(([name, upper]) => [...name].map((c, at) => (upper[at] ? c.toUpperCase() : c)).join(''));

/** How many parameters came. */
const sentIn = ({ target }: { readonly target: string }) => new URL(target, 'http://any').searchParams.size;

const pairs = (count: number) => Array.from({ length: count }, (_, at) => [`n${at}`, 'v'] as const);

describe('an order through the gateway', () => {
  test('takes parameters of other names along, and they are signed', async (t) => {
    const { gateway, simulator } = await coreFor(t);
    const query = [
      ['a', '1'],
      ['q2', 'x y'],
      ['hosts', ''],
      ['x-app-keys', '~*'],
      ['a', '0'],
    ] as const;
    const reply = await ask(gateway, orderPath, { body: orderBody(), query });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(simulator.received[0]?.target, `${orderPath}?a=1&q2=x%20y&hosts=&x-app-keys=~%2A&a=0`);
  });

  test('never takes one that has the name of a signing header, in any case, nor another account', async (t) => {
    const { gateway, simulator } = await coreFor(t);
    await fc.assert(
      fc.asyncProperty(
        inAnyCase,
        fc.string({ maxLength: 9, unit: 'grapheme-ascii' }),
        async (name, given) => {
          const value = given.replaceAll('&', '.');
          const query = [
            ['a', '1'],
            [name, value],
          ] as const;
          const problem = problemOf(await ask(gateway, orderPath, { body: orderBody(), query }));
          assert.equal(problem.code, 'invalid_parameter');
          assert.deepEqual(
            problem.errors?.map((error) => [error.in, error.name, error.received]),
            [['query', name, value]],
          );
        },
      ),
    );
    assert.equal(simulator.received.length, 0);
  });

  test('takes twenty, with names of 64 and values of 256 characters, and no more', async (t) => {
    const { gateway, simulator } = await coreFor(t);
    const send = (query: readonly (readonly [string, string])[]) =>
      ask(gateway, orderPath, { body: orderBody(), query });
    for (const query of [pairs(20), [['n'.repeat(64), 'v'.repeat(256)]] as const])
      assert.equal((await send(query)).status, 200);
    for (const [query, word] of [
      [pairs(21), /n20: too many parameters/],
      [pairs(500), /^n20: too many parameters \(at most 20\)$/],
      [[['n'.repeat(65), 'v']], /too long/],
      [[['n', 'v'.repeat(257)]], /too long/],
      // Percent-encoded, these have 66 and 261 characters.
      [[['é'.repeat(11), 'v']], /too long/],
      [[['n', '中'.repeat(29)]], /too long/],
      [[['', 'v']], /has no name/],
    ] as const) {
      const problem = problemOf(await send(query));
      assert.equal(problem.code, 'invalid_parameter');
      assert.match(problem.detail, word);
    }
    assert.deepEqual(simulator.received.map(sentIn), [20, 1]);
  });
});

describe('a name that comes more than once', () => {
  const signer = createSigner({
    ...credentials,
    clock: () => 0,
    nonce: () => '6a1f8b3c4d5e47f8a9b0c1d2e3f4a5b6',
  });
  const signatureOf = async (host: string, query: readonly (readonly [string, string])[]) =>
    (await signer.sign({ url: `https://${host}${orderPath}`, query, body: '{}' })).headers['x-signature'];

  for (const [value, host, other] of [
    ['account_id=Z', 'good.example', ['account_id', 'Z']],
    ['host=evil.example', 'evil.example', ['host', 'host=good.example']],
  ] as const)
    test(`takes no value like ${value}: it would sign like a parameter or header of that name`, async (t) => {
      const query = [['a', '1'] as const, ['a', value] as const];
      assert.equal(
        await signatureOf('good.example', query),
        await signatureOf(host, [['a', '1'], other]),
        'the reason: two requests have one signature',
      );
      const { gateway, simulator } = await coreFor(t);
      for (const sent of [query, query.toReversed()]) {
        const problem = problemOf(await ask(gateway, orderPath, { body: orderBody(), query: sent }));
        assert.deepEqual(
          problem.errors?.map(({ name, received }) => [name, received]),
          [['a', value]],
        );
      }
      assert.equal(simulator.received.length, 0);
      // Alone it is a value like any other.
      const reply = await ask(gateway, orderPath, { body: orderBody(), query: [['a', value]] });
      assert.equal(reply.status, 200, reply.text);
    });
});

test('why: two requests to different hosts have one signature when a parameter has the name of a header', async () => {
  const at = { clock: () => 0, nonce: () => '6a1f8b3c4d5e47f8a9b0c1d2e3f4a5b6' };
  const signer = createSigner({ ...credentials, ...at });
  const [good, evil] = ['https://good.example', 'https://evil.example'];
  const one = await signer.sign({ url: `${good}/a`, query: { host: 'evil.example' } });
  const other = await signer.sign({ url: `${evil}/a`, query: { host: 'good.example' } });
  assert.equal(one.headers['x-signature'], other.headers['x-signature']);
});

test('the typed client refuses the same before anything is signed', async (t) => {
  const { simulator } = await coreFor(t);
  const connection = direct({ baseUrl: simulator.url, signer: createSigner(credentials) });
  const client = createClient({ placeOrder }, connection);
  const place = (query: Record<string, string>) =>
    client.placeOrder({ account_id: accountId, new_orders: [newOrder()] } as never, { query });
  for (const query of [
    { HOST: 'evil.example' },
    { 'X-Signature-Nonce': '1' },
    { account_id: 'Z' },
    Object.fromEntries(pairs(21)),
    { ['n'.repeat(65)]: 'v' },
    { n: 'v'.repeat(257) },
    { n: '中'.repeat(29) },
    { '': 'v' },
  ])
    await assert.rejects(place(query), { kind: 'invalid_request' });
  assert.equal(simulator.received.length, 0);
  await place(Object.fromEntries(pairs(20)));
  assert.deepEqual(simulator.received.map(sentIn), [20]);
});
