/** The keys of an issuer: when they are read, and what holds when they cannot be. On a virtual clock. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { createTokenVerifier, type ReadText } from '../../../lib/access/index.ts';
import { createIssuerKeys } from '../../../lib/access/issuer-keys.ts';
import { VirtualTime } from '../../world/virtual-time.ts';
import { audience, issuer, jwkOf, jwks, jwksUri, keys, now, publisher, seconds, tokenOf } from '../issuer.ts';

const minute = 60_000;
const hour = 60 * minute;

function world() {
  const time = { now };
  const published = publisher();
  const failures: unknown[] = [];
  const verifier = createTokenVerifier({
    issuer,
    audience,
    readText: published.readText,
    clock: () => time.now,
    onFailure: (error) => failures.push((error as { code?: unknown }).code ?? 'error'),
  });
  const verdict = async (token = tokenOf({ claims: { exp: seconds + 1e6 } })) => {
    const verification = await verifier.verify(token);
    return verification.ok || verification.fault;
  };
  const readKeys = () => published.read.filter((url) => url === jwksUri).length;
  const publish = (...list: readonly unknown[]) =>
    published.published.set(jwksUri, JSON.stringify({ keys: list }));
  return { ...published, time, failures, verdict, readKeys, publish, verifier };
}

const rotated = (kid: string) =>
  tokenOf({ key: keys.stranger, header: { kid }, claims: { exp: seconds + 1e6 } });

test('a hundred first tokens at once read the configuration and the keys once', async () => {
  const { verdict, read } = world();
  const verdicts = await Promise.all(Array.from({ length: 100 }, () => verdict()));
  assert.ok(verdicts.every((one) => one === true));
  assert.equal(read.length, 2);
});

test('keys whose place is configured are read from there, without a configuration', async () => {
  const { readText, read } = publisher();
  const verifier = createTokenVerifier({ issuer, audience, jwksUri, readText, clock: () => now });
  assert.ok((await verifier.verify(tokenOf())).ok);
  assert.deepEqual(read, [jwksUri]);
});

test('a new key is found with its first token, and another unknown key id reads nothing for 30 s', async () => {
  const { verdict, publish, readKeys, time } = world();
  assert.equal(await verdict(), true);
  time.now += 30_000;
  publish(...jwks().keys, jwkOf('next', keys.stranger));
  assert.equal(await verdict(rotated('next')), true);
  assert.equal(readKeys(), 2);
  time.now += 29_999;
  publish(...jwks().keys, jwkOf('third', keys.stranger));
  assert.equal(await verdict(rotated('third')), 'unknown_key');
  assert.equal(readKeys(), 2);
  time.now += 1;
  assert.equal(await verdict(rotated('third')), true);
});

test('a key that the issuer has removed is refused after half an hour, also when the clock was put back meanwhile', async () => {
  const { verdict, publish, time } = world();
  time.now += hour;
  assert.equal(await verdict(), true);
  publish(jwkOf('next', keys.stranger));
  time.now -= hour;
  assert.equal(await verdict(), true);
  time.now += 30 * minute;
  assert.equal(await verdict(), 'unknown_key');
});

test('while the issuer is down, known keys go on for a day, and a key that is not known is not the client’s fault', async () => {
  const { verdict, published, time, readKeys, failures } = world();
  assert.equal(await verdict(), true);
  published.set(jwksUri, new Error('down'));
  for (let passed = 0; passed < 24 * hour - minute; passed += minute) {
    time.now += minute;
    assert.equal(await verdict(), true, `after ${passed} ms`);
  }
  assert.equal(await verdict(rotated('next')), 'issuer_unavailable');
  assert.ok(readKeys() < 24 * 60);
  assert.equal(failures.length, readKeys() - 1);
  time.now += minute;
  assert.equal(await verdict(), 'issuer_unavailable');
  published.set(jwksUri, JSON.stringify(jwks()));
  time.now += minute;
  assert.equal(await verdict(), true);
});

test('without any key there is one attempt in 5 s', async () => {
  const { verdict, published, time, readKeys } = world();
  published.set(jwksUri, new Error('down'));
  for (const [passed, attempts] of [
    [0, 1],
    [4999, 1],
    [1, 2],
    [4999, 2],
  ] as const) {
    time.now += passed;
    assert.equal(await verdict(), 'issuer_unavailable');
    assert.equal(readKeys(), attempts);
  }
  published.set(jwksUri, JSON.stringify(jwks()));
  time.now += 1;
  assert.equal(await verdict(), true);
});

describe('a key that the issuer has removed is refused', () => {
  test('from the first request after 15 minutes on, where there are requests', async () => {
    const { verdict, publish, time, readKeys } = world();
    assert.equal(await verdict(), true);
    publish(jwkOf('ES256'));
    for (let passed = 0; passed < 14; passed++) {
      time.now += minute;
      assert.equal(await verdict(), true);
    }
    time.now += minute;
    // This one does not wait for the reading that it starts.
    assert.equal(await verdict(), true);
    time.now += minute;
    assert.equal(await verdict(), 'unknown_key');
    assert.equal(readKeys(), 3);
  });

  test('after half an hour at the latest, because the first request then waits', async () => {
    const { verdict, publish, time } = world();
    assert.equal(await verdict(), true);
    publish(jwkOf('ES256'));
    time.now += 30 * minute;
    assert.equal(await verdict(), 'unknown_key');
  });
});

test('a reading that the platform has stopped holds no request up for more than 6 s, and one in five minutes', async () => {
  const time = new VirtualTime(now);
  const { readText, published } = publisher();
  let answers = true;
  const stopping: ReadText = (...asked) => (answers ? readText(...asked) : new Promise(() => {}));
  const issuerKeys = createIssuerKeys({ issuer, readText: stopping, clock: time.now, after: time.after });
  const find = async () => {
    const begun = time.now();
    const { ok } = await issuerKeys.find('RS256', 'RS256');
    return [ok, time.now() - begun];
  };
  assert.deepEqual(await find(), [true, 0]);
  answers = false;
  const found: unknown[] = [];
  for (const at of [15 * minute, 30 * minute, 31 * minute, 36 * minute])
    time.after(at, () => void find().then((one) => found.push(one)));
  await time.runUntil(now + hour);
  assert.deepEqual(found, [
    [true, 0],
    [true, 6000],
    [true, 0],
    [true, 6000],
  ]);
  answers = true;
  published.set(jwksUri, JSON.stringify({ keys: [jwkOf('ES256')] }));
  assert.deepEqual(await find(), [false, 0]);
});

describe('a reading fails, and known keys stay, when', () => {
  const configuration = `${issuer}/.well-known/openid-configuration`;
  const many = Array.from({ length: 1000 }, (_, index) => jwkOf(`key-${index}`, keys.stranger));
  const cases: Readonly<Record<string, readonly [url: string, text: string, code: string]>> = {
    'the configuration is of another issuer': [
      configuration,
      JSON.stringify({ issuer: `${issuer}/`, jwks_uri: jwksUri }),
      'other_issuer',
    ],
    'the configuration names no issuer': [
      configuration,
      JSON.stringify({ jwks_uri: jwksUri }),
      'other_issuer',
    ],
    'the keys are not behind https': [
      configuration,
      JSON.stringify({ issuer, jwks_uri: 'http://issuer.example.com/keys' }),
      'keys_not_https',
    ],
    'the keys are on the gateway’s own machine': [
      configuration,
      JSON.stringify({ issuer, jwks_uri: 'http://127.0.0.1/keys' }),
      'keys_not_https',
    ],
    'the keys are in a file': [
      configuration,
      JSON.stringify({ issuer, jwks_uri: 'file:///etc/keys' }),
      'keys_not_https',
    ],
    'the configuration names no keys': [configuration, JSON.stringify({ issuer }), 'ERR_INVALID_URL'],
    'the keys are no JSON': [jwksUri, '<html>', 'error'],
    'the keys are a list': [jwksUri, '[]', 'error'],
    'there is no key': [jwksUri, '{"keys":[]}', 'no_keys'],
    'there is no key for signatures': [
      jwksUri,
      JSON.stringify({ keys: [jwkOf('RS256', keys.RS256, { use: 'enc' })] }),
      'no_keys',
    ],
  };
  for (const [name, [url, text, code]] of Object.entries(cases))
    test(name, async () => {
      const { verdict, published, time, failures } = world();
      assert.equal(await verdict(), true);
      published.set(url, text);
      time.now += 30 * minute;
      assert.equal(await verdict(), true);
      assert.deepEqual(failures, [code]);
    });

  test('but of a thousand keys the first 64 are kept', async () => {
    const { verdict, publish } = world();
    publish(...many);
    assert.equal(await verdict(rotated('key-63')), true);
    assert.equal(await verdict(rotated('key-64')), 'unknown_key');
  });
});

test('keys that are read ahead are there for the first token', async () => {
  const { readText, read } = publisher();
  const verifier = createTokenVerifier({ issuer, audience, readText, clock: () => now, readAhead: true });
  await new Promise(setImmediate);
  assert.equal(read.length, 2);
  assert.ok((await verifier.verify(tokenOf())).ok);
  assert.equal(read.length, 2);
});

test('a million random key ids in an hour, and an hour of a dead issuer: two readings a minute', async () => {
  const { readText, published, read } = publisher();
  const time = { now };
  const issuerKeys = createIssuerKeys({ issuer, readText, clock: () => time.now });
  const perMinute: number[] = [];
  const faults = new Set<string>();
  for (let passed = 0; passed < 120; passed++) {
    const before = read.filter((url) => url === jwksUri).length;
    if (passed === 60) published.set(jwksUri, new Error('down'));
    for (let tokens = 0; tokens < 8334; tokens++) {
      time.now = now + passed * minute + (tokens / 8334) * minute;
      const found = await issuerKeys.find(`${passed}-${tokens}`, 'RS256');
      faults.add(found.ok ? 'accepted' : `${found.fault} ${passed < 60}`);
    }
    perMinute.push(read.filter((url) => url === jwksUri).length - before);
  }
  assert.ok(perMinute.length * 8334 >= 1e6);
  assert.equal(Math.max(...perMinute), 2);
  // In the second in which the issuer goes down, the last reading is still good.
  assert.deepEqual([...faults].sort(), ['issuer_unavailable false', 'unknown_key true']);
});
