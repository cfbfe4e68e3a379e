import assert from 'node:assert/strict';
import { test } from 'vitest';
import { createSigner, explain } from '../../lib/signer/index.ts';
import { appKey, appSecret, base, nonce, now, timestamp } from '../support/signing.ts';

const input = {
  url: `${base}/a/b`,
  query: { q: 'x y', n: '日' },
  body: '{"k":1}',
  appKey,
  nonce,
  timestamp,
};
const explained = await explain(input);

test('each step follows from the one before it', () => {
  assert.equal(explained.path, '/a/b');
  assert.equal(explained.url, `${base}/a/b?q=x%20y&n=%E6%97%A5`);
  assert.equal(explained.str1, explained.parameters.map((pair) => pair.join('=')).join('&'));
  assert.equal(explained.str3, `/a/b&${explained.str1}&${explained.str2}`);
  assert.equal(decodeURIComponent(explained.encodedString), explained.str3);
});

test('the text it ends with is the text that is signed', async () => {
  const signer = createSigner({ appKey, appSecret, clock: () => now, nonce: () => nonce });
  const { headers } = await signer.sign(input);
  const key = await crypto.subtle.importKey(
    'raw',
    new TextEncoder().encode(`${appSecret}&`),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  const digest = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(explained.encodedString));
  assert.equal(Buffer.from(digest).toString('base64'), headers['x-signature']);
});

test('every step is a line for people, and so is where another text differs', async () => {
  const { url, path, parameters, str1, str2, str3, encodedString } = explained;
  const lines = [
    `url            ${url}`,
    `path           ${path}`,
    ...parameters.map(([name, value]) => `parameter      ${name}=${value}`),
    `str1           ${str1}`,
    `str2           ${str2}`,
    `str3           ${str3}`,
    `encoded string ${encodedString}`,
    'signing key    <app secret>&',
    'signature      base64(HMAC-SHA256(signing key, encoded string))',
  ];
  assert.deepEqual(`${explained}`.split('\n'), lines);
  const compareWith = `${str3.slice(0, 30)}?${str3.slice(31)}`;
  assert.deepEqual(`${await explain({ ...input, compareWith })}`.split('\n').slice(lines.length), [
    'differs at character 30',
    `  ours         ${str3.slice(10, 70)}`,
    `  theirs       ${compareWith.slice(10, 70)}`,
  ]);
});

test('without a body there is no hash, and the lines say so', async () => {
  const { body: _, ...get } = input;
  const explanation = await explain(get);
  assert.equal(explanation.str2, '');
  assert.ok(explanation.str3.endsWith(`&x-timestamp=${timestamp}`));
  assert.match(`${explanation}`, /no body, no hash/);
});

test('the first character that differs is found in both forms', async () => {
  for (const ours of [explained.str3, explained.encodedString])
    for (const at of [1, 7, 40, ours.length - 1]) {
      const theirs = `${ours.slice(0, at)}?${ours.slice(at + 1)}`;
      const explanation = await explain({ ...input, compareWith: theirs });
      assert.equal(explanation.difference?.at, at);
      assert.ok(explanation.difference.theirs.includes('?'));
      assert.ok(ours.includes(explanation.difference.ours));
      assert.match(`${explanation}`, new RegExp(`^differs at character ${at}$`, 'm'));
    }
});

test('too short and too long differ where one of them ends', async () => {
  const { str3 } = explained;
  const short = await explain({ ...input, compareWith: str3.slice(0, -1) });
  assert.equal(short.difference?.at, str3.length - 1);
  const long = await explain({ ...input, compareWith: `${str3}&` });
  assert.equal(long.difference?.at, str3.length);
  assert.equal((await explain({ ...input, compareWith: '' })).difference?.at, 0);
});

test('nothing differs from itself', async () => {
  for (const compareWith of [explained.str3, explained.encodedString])
    assert.ok(!('difference' in (await explain({ ...input, compareWith }))));
});

test('half a surrogate pair in a header value is refused as in signing', async () => {
  for (const header of ['appKey', 'nonce', 'timestamp'])
    await assert.rejects(explain({ ...input, [header]: '\ud800' }), { code: 'lone_surrogate' });
});
