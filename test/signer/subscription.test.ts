/** Subscriptions to the event stream are signed as the vectors say, and what cannot be signed is refused. */

import assert from 'node:assert/strict';
import { describe, test } from 'vitest';
import { createSubscriptionSigner } from '../../lib/signer/index.ts';
import { encodeSubscribeRequest } from '../../lib/trade-events/index.ts';
import { eventVectors } from '../support/event-vectors.ts';
import { rejectsWith } from '../support/signing.ts';

const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const message = Uint8Array.of(8, 7);
const credential = { appKey: 'app-key-1', appSecret: 'secret-1' };

test('there are vectors', () => assert.ok(eventVectors.length >= 3));

describe.each(eventVectors)('$name', ({ request, signature }) => {
  const { appKey, appSecret, nonce, timestamp, serializedHex } = request;
  const clock = () => Date.parse(timestamp) + 999;

  test('the message is these bytes', () => {
    assert.deepEqual(encodeSubscribeRequest(request.message), bytesOf(serializedHex));
  });

  test('the metadata is signed', async () => {
    const signer = createSubscriptionSigner({ appKey, appSecret, clock, nonce: () => nonce });
    assert.deepEqual(await signer.signSubscription(bytesOf(serializedHex)), {
      'x-app-key': appKey,
      'x-timestamp': timestamp,
      'x-signature': signature,
      'x-signature-algorithm': 'HMAC-SHA256',
      'x-signature-version': '1.0',
      'x-signature-nonce': nonce,
    });
  });
});

test('an access token goes beside, and changes no signature', async () => {
  const options = { ...credential, clock: () => 0, nonce: () => 'n' };
  const without = await createSubscriptionSigner(options).signSubscription(message);
  const withToken = await createSubscriptionSigner({ ...options, accessToken: 'tok-1' }).signSubscription(
    message,
  );
  assert.deepEqual(withToken, { ...without, 'x-access-token': 'tok-1' });
});

test('each call has a nonce of its own', async () => {
  const { signSubscription } = createSubscriptionSigner(credential);
  const [one, two] = await Promise.all([signSubscription(message), signSubscription(message)]);
  assert.match(one['x-signature-nonce'] ?? '', /^[0-9a-f]{32}$/);
  assert.notEqual(one['x-signature-nonce'], two['x-signature-nonce']);
  assert.notEqual(one['x-signature'], two['x-signature']);
});

test('what cannot be signed or sent is refused', async () => {
  for (const wrong of [
    { appKey: '' },
    { appKey: 'a b' },
    { appSecret: '' },
    { appSecret: 7 as unknown as string },
    { accessToken: 'a\nb' },
  ])
    await rejectsWith('invalid_credentials', async () =>
      createSubscriptionSigner({ ...credential, ...wrong }),
    );
  await rejectsWith('lone_surrogate', async () =>
    createSubscriptionSigner({ ...credential, appSecret: '\ud800' }),
  );
  const signed = (more: object, bytes = message) =>
    createSubscriptionSigner({ ...credential, ...more }).signSubscription(bytes);
  await rejectsWith('invalid_body', () => signed({}, new Uint8Array()));
  for (const time of [Number.NaN, Date.UTC(10_000, 0), Date.UTC(-1, 0)])
    await rejectsWith('invalid_nonce_or_time', () => signed({ clock: () => time }));
  await rejectsWith('invalid_nonce_or_time', () => signed({ nonce: () => 'a b' }));
});
