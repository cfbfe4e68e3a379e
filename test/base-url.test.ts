/** Base URLs: which are taken, and with which words the others are refused where they are given: to a gateway, or to a client. */

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
const host = 'https://api.example.com';
const stage = 'https://a1.execute-api.eu-central-1.amazonaws.com';

const gatewayAt = (upstreamBaseUrl: string, upstreamPaths = {}) =>
  createGateway({
    access: 'single-user',
    operations,
    upstreamBaseUrl,
    upstreamPaths,
    secrets: { read: async () => secretText() },
  });

/** The gateway and the client's connections, which take a base URL, by the option's name. */
const takers: readonly (readonly [option: string, take: (baseUrl: string) => unknown])[] = [
  ['upstreamBaseUrl', gatewayAt],
  ['baseUrl', (baseUrl) => createClient(catalogue, viaGateway({ baseUrl }))],
  ['baseUrl', (baseUrl) => createClient(catalogue, direct({ baseUrl, signer: createSigner(credentials) }))],
];

describe('a base URL is refused', () => {
  for (const [baseUrl, fault] of [
    ['', /not an absolute URL/],
    ['api.example.com', /not an absolute URL/],
    ['/v1', /not an absolute URL/],
    ['https://', /not an absolute URL/],
    ['http://api.example.com', /http/],
    ['http://127.0.0.1.example.com', /http/],
    ['http://localhost.example.com', /http/],
    ['http://10.0.0.1', /http/],
    ['http://127.0.0.1@example.com', /http|credentials/],
    ['ftp://localhost', /neither https nor http/],
    ['file:///etc', /neither https nor http/],
    [`https://user:word@api.example.com`, /credentials/],
    [`${host}/?a=1`, /query/],
    [`${host}/#a`, /fragment/],
    [`${host}/a b`, /cannot be signed/],
    // Of these a parsed URL shows nothing, but a path put after them would be lost in them.
    [`${host}?`, /query/],
    [`${host}#`, /fragment/],
    [`${host}\\`, /cannot be signed/],
    [`${host} `, /cannot be signed/],
    [` ${host}`, /cannot be signed/],
    [`${host}/%41`, /cannot be signed/],
    [`${host}/ä`, /cannot be signed/],
  ] as const)
    test(JSON.stringify(baseUrl), () => {
      for (const [option, take] of takers)
        assert.throws(() => take(baseUrl), {
          name: 'TypeError',
          // A client, to be small, has one sentence for all.
          message: option === 'baseUrl' ? /^baseUrl: http/ : fault,
        });
    });

  for (const [baseUrl, end, instead] of [
    [`${host}/openapi`, '/openapi', host],
    [`${host}/openapi/`, '/openapi', host],
    [`${host}/v3/openapi/market-data`, '/openapi/market-data', `${host}/v3`],
    [`${host}/v3/market-data`, '/market-data', `${host}/v3`],
    [`${host}/trading/accounts/list`, '/trading/accounts/list', host],
    [`${stage}/v1/trading`, '/trading', `${stage}/v1`],
  ] as const)
    test(`${baseUrl}, which ends with what paths begin with`, () => {
      for (const [option, take] of takers) {
        const message = `${option}: it ends with ${end}, with which paths begin: write ${instead}`;
        assert.throws(() => take(baseUrl), { name: 'TypeError', message });
        take(instead);
      }
    });

  test('exactly where some beginning of a path ends it', () => {
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
});

describe('a base URL is taken', () => {
  for (const baseUrl of [
    host,
    `${host}/`,
    `${host}:8443/a/b/`,
    `${host}/openapi/v3`,
    `${host}/open`,
    'HTTPS://EXAMPLE.COM',
    'https://openapi',
    // A stage may have any name.
    `${stage}/openapi`,
    'http://localhost:1',
    'http://127.8.9.10:99/a',
    'http://[::1]:8080',
  ])
    test(baseUrl, () => {
      for (const [, take] of takers) take(baseUrl);
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

  test('by a client, with http to a private host only by an option that the error names', () => {
    const signer = createSigner(credentials);
    viaGateway({ baseUrl: 'http://10.0.2.2:8787' });
    for (const name of [
      '192.168.1.7:8787',
      '10.1.2.3',
      '172.16.0.1',
      '[fd00::1]:8787',
      'gateway',
      'mac.local',
    ]) {
      const baseUrl = `http://${name}`;
      assert.throws(() => viaGateway({ baseUrl }), /: true$/);
      viaGateway({ baseUrl, allowInsecureHttp: true });
      assert.throws(() => direct({ baseUrl, signer }), /^TypeError: baseUrl: https, or http on loopback/);
    }
    for (const name of [
      '8.8.8.8',
      '172.32.0.1',
      '134744072',
      '0x08080808',
      '10.1',
      'example.com',
      '[2001:db8::1]',
    ])
      assert.throws(
        () => viaGateway({ baseUrl: `http://${name}`, allowInsecureHttp: true }),
        TypeError,
        name,
      );
  });
});
