import assert from 'node:assert/strict';
import { test } from 'vitest';
import { explain, type Query } from '../../lib/signer/index.ts';
import { appKey, base, fixedSigner, nonce, timestamp } from '../support/signing.ts';

const url = `${base}/a`;
const searchOf = async (query: Query, at = url) =>
  (await fixedSigner.sign({ url: at, query })).url.slice(url.length);
const explained = (at: string | URL, query?: Query) =>
  explain({ url: at, ...(query && { query }), appKey, nonce, timestamp });

test('absent means absent, false and 0 and empty do not', async () => {
  const query = { a: undefined, b: null, c: false, d: 0, e: '', f: true };
  assert.equal(await searchOf(query), '?c=false&d=0&e=&f=true');
  const { str1 } = await explained(url, query);
  assert.ok(str1.startsWith('c=false&d=0&e=&f=true&host='));
});

test('several values of an array are one value with commas', async () => {
  assert.equal(await searchOf({ symbols: ['A', 'B', 3] }), '?symbols=A%2CB%2C3');
});

test('pairs may repeat a name, in whatever holds them', async () => {
  const pairs = [
    ['a', '2'],
    ['a', '10'],
    ['a', '1'],
  ] as const;
  for (const query of [pairs, new URLSearchParams('a=2&a=10&a=1'), pairs.values()])
    assert.equal(await searchOf(query), '?a=2&a=10&a=1');
  assert.ok((await explained(url, pairs)).str1.startsWith('a=1&10&2&host='));
  assert.equal(await searchOf(new Map([['b', 1]])), '?b=1');
});

test('names that objects treat specially are names', async () => {
  const query = JSON.parse('{"__proto__":"1","constructor":"2","toString":"3"}');
  assert.equal(await searchOf(query), '?__proto__=1&constructor=2&toString=3');
});

test('a query in the URL comes before `query` and is decoded like it', async () => {
  assert.equal(await searchOf({ b: '2', a: '3' }, `${url}?a=1+1&a=%2B&c`), '?a=1%201&a=%2B&c=&b=2&a=3');
  const whole = await explained(`${url}?a=1+1`, { a: '0' });
  const parts = await explained(url, [
    ['a', '1 1'],
    ['a', '0'],
  ]);
  assert.equal(whole.str1, parts.str1);
});

test('a space is never a plus, and nothing but unreserved characters stays as it is', async () => {
  const every = String.fromCharCode(...Array.from({ length: 0x250 }, (_, code) => code));
  const search = await searchOf({ q: every, [every]: ' ' });
  assert.match(search, /^\?q=(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})+&(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})+=%20$/);
  assert.match(search, /q=%00%01/);
});

test('the URL survives being parsed', async () => {
  for (const query of [{}, { q: '\'"<>`{}|\\^[]#?&=+ é😀' }, { '': '' }]) {
    const signed = await fixedSigner.sign({ url, query });
    assert.equal(new URL(signed.url).href, signed.url);
  }
});

test('host: with its port, unless that is the scheme’s own; in lower case', async () => {
  for (const [at, host] of [
    ['https://api.example.com:8443/a', 'api.example.com:8443'],
    ['https://api.example.com:443/a', 'api.example.com'],
    ['http://localhost:80/a', 'localhost'],
    ['http://localhost:443/a', 'localhost:443'],
    ['https://API.Example.COM/a', 'api.example.com'],
    ['https://user:secret@api.example.com/a#part', 'api.example.com'],
    ['http://[::1]:8080/a', '[::1]:8080'],
  ] as const) {
    const { str1, url: sent } = await explained(at);
    assert.ok(str1.startsWith(`host=${host}&x-app-key=`), str1);
    assert.equal(sent, `${new URL(at).protocol}//${host}/a`);
  }
});

test('a URL object is as good as its text, and is not changed', async () => {
  const object = new URL(`${url}?a=1`);
  assert.deepEqual(
    await fixedSigner.sign({ url: object, query: { b: 2 } }),
    await fixedSigner.sign({ url: object.href, query: { b: 2 } }),
  );
  assert.equal(object.href, `${url}?a=1`);
});

test('dot segments are signed as they are sent: resolved', async () => {
  const signed = await explained(`${base}/a/./b/../c`);
  assert.equal(signed.path, '/a/c');
  assert.equal(signed.url, `${base}/a/c`);
});
