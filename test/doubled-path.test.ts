/** A base URL that ends with what paths begin with is refused where it is given, and told what to write instead. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import * as catalogue from '../lib/catalogue/index.ts';
import { createClient, direct, viaGateway } from '../lib/client/index.ts';
import { createGateway } from '../lib/gateway/index.ts';
import { createSigner } from '../lib/signer/index.ts';
import { doubledPathFault } from '../lib/upstream/base-url.ts';
import { credentials, secretText } from './support/core.ts';

const { operations } = catalogue;

const gatewayAt = (upstreamBaseUrl: string, upstreamPaths = {}) =>
  createGateway({
    access: 'single-user',
    operations,
    upstreamBaseUrl,
    upstreamPaths,
    secrets: { read: async () => secretText() },
  });

const host = 'https://api.example.com';
const doubled = [
  [`${host}/openapi`, '/openapi', host],
  [`${host}/openapi/`, '/openapi', host],
  [`${host}/v3/openapi/market-data`, '/openapi/market-data', `${host}/v3`],
  [`${host}/v3/market-data`, '/market-data', `${host}/v3`],
  [`${host}/trading/accounts/list`, '/trading/accounts/list', host],
  [
    'https://a1.execute-api.eu-central-1.amazonaws.com/v1/trading',
    '/trading',
    'https://a1.execute-api.eu-central-1.amazonaws.com/v1',
  ],
] as const;

for (const [baseUrl, end, instead] of doubled)
  describe(`the base URL ${baseUrl} is refused`, () => {
    const message = (option: string) =>
      `${option}: it ends with ${end}, with which paths begin: write ${instead}`;

    test('by a gateway', () => {
      assert.throws(() => gatewayAt(baseUrl), { name: 'TypeError', message: message('upstreamBaseUrl') });
      gatewayAt(instead);
    });

    test('by a client', () => {
      const signer = createSigner(credentials);
      for (const connect of [viaGateway, (options: { baseUrl: string }) => direct({ ...options, signer })]) {
        assert.throws(() => createClient(catalogue, connect({ baseUrl })), {
          name: 'TypeError',
          message: message('baseUrl'),
        });
        createClient(catalogue, connect({ baseUrl: instead }));
      }
    });
  });

describe('a base URL is taken', () => {
  for (const baseUrl of [
    host,
    `${host}/`,
    `${host}/v1`,
    `${host}/openapi/v3`,
    `${host}/open`,
    'https://openapi',
    // A stage may have any name.
    'https://a1.execute-api.eu-central-1.amazonaws.com/openapi',
  ])
    test(baseUrl, () => {
      gatewayAt(baseUrl);
      createClient(catalogue, viaGateway({ baseUrl }));
    });

  test('that ends with what only other paths begin with', () => {
    createClient(
      { getStockSnapshots: catalogue.getStockSnapshots },
      viaGateway({ baseUrl: `${host}/trading` }),
    );
    const elsewhere = Object.fromEntries(
      operations
        .filter(({ path, aliases }) => [path, ...aliases].some((one) => one.startsWith('/auth/')))
        .map(({ id }) => [id, '/tokens']),
    );
    assert.throws(() => gatewayAt(`${host}/auth`), TypeError);
    gatewayAt(`${host}/auth`, elsewhere);
  });
});

test('it is refused exactly where some beginning of a path ends it', () => {
  const part = fc.constantFrom('a', 'b', 'c', 'v1');
  const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`);
  const beginningsOf = (one: string) =>
    one.split('/').flatMap((_, index, parts) => parts.slice(0, index + 1).join('/') || []);
  fc.assert(
    fc.property(path, fc.array(path, { maxLength: 4 }), (base, paths) => {
      const isDoubled = paths.flatMap(beginningsOf).some((beginning) => base.endsWith(beginning));
      assert.equal(doubledPathFault(`https://h${base}`, paths) !== undefined, isDoubled);
    }),
  );
});
