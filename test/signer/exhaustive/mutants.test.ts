/**
 * Would these tests notice a broken signer? Each mutant breaks one rule of the algorithm in the real source,
 * and the vectors and random requests that pass for the signer as it is must fail for it.
 */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import type { createSigner } from '../../../lib/signer/index.ts';
import { bundle, load, replaceIn } from '../../support/bundle.ts';
import { anyRequest } from '../../support/requests.ts';
import { appKey, appSecret, nonce, now } from '../../support/signing.ts';
import { isPlain, urlOf, vectors } from '../../support/vectors.ts';
import { simulatorVerdict, toWire } from '../../support/wire.ts';

interface Mutant {
  readonly rule: string;
  readonly file: 'canonical' | 'request' | 'signer';
  readonly find: string;
  readonly by: string;
}

const order = 'a < b ? -1 : a > b ? 1 :';

const mutants: readonly Mutant[] = [
  { rule: 'values of one name unsorted', file: 'canonical', find: 'x < y ? -1 : 1', by: '0' },
  {
    rule: 'sorted by locale',
    file: 'canonical',
    find: order,
    by: 'a !== b ? a.localeCompare(b) :',
  },
  { rule: 'sorted backwards', file: 'canonical', find: order, by: 'a > b ? -1 : a < b ? 1 :' },
  { rule: 'a repeated name written twice', file: 'canonical', find: 'name === last', by: 'false' },
  {
    rule: '~ encoded',
    file: 'canonical',
    find: 'return encoded;',
    by: "return encoded.replaceAll('~', '%7E');",
  },
  { rule: 'a parenthesis alone left', file: 'canonical', find: "/[!'()*]/.test", by: "/[!'(*]/.test" },
  {
    rule: '* not encoded',
    file: 'canonical',
    find: "encoded.replace(/[!'()*]/g",
    by: "encoded.replace(/[!'()]/g",
  },
  {
    rule: 'escapes in lower case',
    file: 'canonical',
    find: '.toString(16).toUpperCase()',
    by: '.toString(16)',
  },
  {
    rule: 'a hash without a body',
    file: 'signer',
    find: 'body && (await (digests ? digests.sha256(body) : hashBody(body)))',
    by: "await hashBody(body || '{}')",
  },
  { rule: 'hash in lower case', file: 'canonical', find: 'bodyHash.toUpperCase()', by: 'bodyHash' },
  { rule: 'key without &', file: 'canonical', find: 'appSecret}&`', by: 'appSecret}`' },
  {
    rule: 'host without port',
    file: 'request',
    find: 'const { host, pathname',
    by: 'const { hostname: host, pathname',
  },
  { rule: 'query of the URL lost', file: 'request', find: '[...url.searchParams]', by: '[]' },
  {
    rule: '+ for a space',
    file: 'request',
    find: 'percentEncode(value)}',
    by: "percentEncode(value).replaceAll('%20', '+')}",
  },
  {
    rule: 'another serialisation sent than hashed',
    file: 'signer',
    find: '...(body && { body })',
    by: '...(body && { body: body + "\\n" })',
  },
  {
    rule: 'no content type with a POST',
    file: 'signer',
    find: "...(method === 'POST' &&",
    by: '...(false &&',
  },
];

type CreateSigner = typeof createSigner;

async function signerOf(mutant?: Mutant): Promise<CreateSigner> {
  const plugins = mutant ? [replaceIn(`lib/signer/${mutant.file}.ts`, mutant.find, mutant.by)] : [];
  const { text } = await bundle("export { createSigner } from './lib/signer/index.ts'", { plugins });
  return ((await load(text)) as { createSigner: CreateSigner }).createSigner;
}

async function failsVectors(create: CreateSigner): Promise<boolean> {
  for (const vector of vectors.filter(isPlain)) {
    const { appKey, appSecret, nonce, timestamp, query, body } = vector.request;
    const signer = create({ appKey, appSecret, clock: () => Date.parse(timestamp), nonce: () => nonce });
    const signed = await signer.sign({ url: urlOf(vector), query, ...(body !== undefined && { body }) });
    if (signed.headers['x-signature'] !== vector.signature) return true;
  }
  return false;
}

async function failsOnTheWire(create: CreateSigner): Promise<boolean> {
  const signer = create({ appKey, appSecret, clock: () => now, nonce: () => nonce });
  const property = fc.asyncProperty(anyRequest, async ({ input, query }) => {
    const wire = toWire(await signer.sign(input));
    const verdict = simulatorVerdict(wire);
    assert.ok(verdict.ok);
    assert.deepEqual(verdict.query, query);
    assert.ok(!wire.rawTarget.includes('+'));
  });
  // The same requests for each mutant: what catches one today catches it tomorrow.
  return (await fc.check(property, { numRuns: 1000, seed: 20_261_117, endOnFailure: true })).failed;
}

test('the signer as it is passes', async () => {
  const create = await signerOf();
  assert.equal(await failsVectors(create), false);
  assert.equal(await failsOnTheWire(create), false);
});

for (const mutant of mutants)
  test(`caught: ${mutant.rule}`, async () => {
    const create = await signerOf(mutant);
    const by = [(await failsVectors(create)) && 'vectors', (await failsOnTheWire(create)) && 'simulator'];
    assert.ok(by.some(Boolean), 'survives');
    // A mutant that fails only by throwing would be caught by anything.
    await create({ appKey, appSecret }).sign({ url: 'https://api.example.com/a', body: '{}' });
  });

test('a rule whose text is gone from the source is noticed', async () => {
  await assert.rejects(signerOf({ rule: '', file: 'signer', find: 'no such text', by: '' }), /0 times/);
});
