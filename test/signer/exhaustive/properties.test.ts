/** Two implementations that share no line judge the signer: the simulator's own, and lib's verifier. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { nodeDigests } from '../../../functions/aws/node-digests.ts';
import type { Field } from '../../../infra/simulator/canonical.ts';
import type { WireRequest } from '../../../infra/simulator/verify.ts';
import { createSigner } from '../../../lib/signer/index.ts';
import { anyRequest, unambiguousRequest } from '../../support/requests.ts';
import { appKey, appSecret, fixedSigner, nonce, now } from '../../support/signing.ts';
import { headerPairs, libVerdict, otherAppKey, simulatorVerdict, toWire } from '../../support/wire.ts';

/** A failure prints its seed and path; setting them here repeats it. */
const settings = { numRuns: 10_000, verbose: 1 } as const;

test('10,000 random requests verify, and arrive as they were meant', async () => {
  await fc.assert(
    fc.asyncProperty(anyRequest, async ({ input, query }) => {
      const signed = await fixedSigner.sign(input);
      const wire = toWire(signed);
      const verdict = simulatorVerdict(wire);
      assert.ok(verdict.ok, JSON.stringify(verdict));
      assert.deepEqual(verdict.query, query);
      assert.deepEqual(await libVerdict(wire), { ok: true, appKey });
      assert.ok(!wire.rawTarget.includes('+'));
      assert.equal(new URL(signed.url).href, signed.url);
    }),
    settings,
  );
});

test('Node’s digests sign alike', async () => {
  const fixed = { appKey, appSecret, clock: () => now, nonce: () => nonce };
  const nodes = createSigner({ ...fixed, digests: nodeDigests });
  await fc.assert(
    fc.asyncProperty(anyRequest, async ({ input }) =>
      assert.deepEqual(await nodes.sign(input), await fixedSigner.sign(input)),
    ),
    { ...settings, numRuns: 2000 },
  );
});

/** A change of what arrives, or undefined where the request has nothing of the kind. */
type Change = (wire: WireRequest, pick: (length: number) => number) => WireRequest | undefined;

const changeHeader =
  (name: string, to: (value: string) => string): Change =>
  (wire) => ({
    ...wire,
    rawHeaders: headerPairs(wire.rawHeaders).flatMap(([key, value]) => [
      key,
      key === name ? to(value) : value,
    ]),
  });

const changeQuery =
  (to: (pairs: Field[], at: number) => Field[] | undefined): Change =>
  (wire, pick) => {
    const [path = '', search = ''] = wire.rawTarget.split('?');
    const pairs = [...new URLSearchParams(search)];
    const changed = to(pairs, pairs.length > 0 ? pick(pairs.length) : 0);
    const written = changed?.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
    return written === undefined ? undefined : { ...wire, rawTarget: `${path}?${written}` };
  };
const changePair = (to: (pair: Field) => Field) =>
  changeQuery((pairs, at) =>
    pairs.length > 0 ? pairs.map((pair, index) => (index === at ? to(pair) : pair)) : undefined,
  );

const changes: Readonly<Record<string, Change>> = {
  'path: another character': (wire) => ({ ...wire, rawTarget: wire.rawTarget.replace('/', '/x') }),
  'path: a slash more': (wire) => ({ ...wire, rawTarget: wire.rawTarget.replace(/(\?|$)/, '/$1') }),
  'query: a pair more': changeQuery((pairs) => [...pairs, ['new', 'x']]),
  'query: an empty pair more': changeQuery((pairs) => [...pairs, ['new', '']]),
  'query: a pair twice': changeQuery((pairs, at) => (pairs[at] ? [...pairs, pairs[at]] : undefined)),
  'query: a pair less': changeQuery((pairs, at) => (pairs.length > 0 ? pairs.toSpliced(at, 1) : undefined)),
  'query: another name': changePair(([name, value]) => [`${name}x`, value]),
  'query: another value': changePair(([name, value]) => [name, `${value}x`]),
  'query: a space more': changePair(([name, value]) => [name, `${value} `]),
  'header: host': changeHeader('host', (host) => `x${host}`),
  'header: host with another port': changeHeader('host', (host) => `${host.replace(/:\d+$/, '')}:1`),
  'header: x-app-key, another valid one': changeHeader('x-app-key', () => otherAppKey),
  'header: x-signature-nonce': changeHeader('x-signature-nonce', (nonce) => `${nonce}x`),
  'header: x-timestamp': changeHeader('x-timestamp', (time) => time.replace('00Z', '01Z')),
  'header: x-signature-algorithm': changeHeader('x-signature-algorithm', () => 'HMAC-SHA1'),
  'header: x-signature-version': changeHeader('x-signature-version', () => '1.1'),
  'signature: one bit': changeHeader('x-signature', (text) => {
    const bytes = Buffer.from(text, 'base64');
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    return bytes.toString('base64');
  }),
  'signature: the last character, same bytes': changeHeader('x-signature', (text) => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    return `${text.slice(0, -2)}${alphabet[alphabet.indexOf(text.at(-2) ?? '') + 1]}=`;
  }),
  'body: a byte more': (wire) => ({ ...wire, body: Buffer.concat([wire.body, Buffer.from(' ')]) }),
  'body: a byte less': (wire) =>
    wire.body.length > 0 ? { ...wire, body: wire.body.slice(0, -1) } : undefined,
  'body: one bit': (wire, pick) => {
    if (wire.body.length === 0) return undefined;
    const body = Uint8Array.from(wire.body);
    const at = pick(body.length);
    body[at] = (body[at] ?? 0) ^ 1;
    return { ...wire, body };
  },
};

describe('any one change of what was signed is refused by both', () => {
  const made = new Map(Object.keys(changes).map((name) => [name, 0]));
  test('10,000 changes', () =>
    fc.assert(
      fc.asyncProperty(
        unambiguousRequest,
        fc.constantFrom(...Object.keys(changes)),
        fc.nat(),
        async ({ input }, name, random) => {
          const wire = toWire(await fixedSigner.sign(input));
          assert.ok(simulatorVerdict(wire).ok);
          const changed = changes[name]?.(wire, (length) => random % length);
          if (!changed) return;
          made.set(name, (made.get(name) ?? 0) + 1);
          assert.notDeepEqual(changed, wire);
          assert.equal(simulatorVerdict(changed).ok, false, `simulator accepts ${name}`);
          assert.equal((await libVerdict(changed)).ok, false, `lib accepts ${name}`);
        },
      ),
      settings,
    ));
  for (const name of made.keys())
    test(name, () => assert.ok((made.get(name) ?? 0) > 50, `made ${made.get(name)} times`));
});
