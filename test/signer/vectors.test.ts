import assert from 'node:assert/strict';
import { test } from 'vitest';
import { nodeDigests } from '../../functions/aws/node-digests.ts';
import { hashBody, parameterString, percentEncode, stringToSign } from '../../lib/signer/canonical.ts';
import { createSigner, explain } from '../../lib/signer/index.ts';
import { rejectsWith } from '../support/signing.ts';
import { isPlain, methodOf, urlOf, vectors } from '../support/vectors.ts';

test('there are vectors, and one with a path that is not plain', () => {
  assert.ok(vectors.length >= 19);
  assert.equal(vectors.filter((vector) => !isPlain(vector)).length, 1);
});

for (const vector of vectors) {
  const { request, encodedString, signature } = vector;
  const { appKey, appSecret, nonce, timestamp, query, body } = request;
  const input = { url: urlOf(vector), query, ...(body !== undefined && { body }) };

  test(`canonical string: ${vector.name}`, async () => {
    const str1 = parameterString(query, request);
    assert.equal(percentEncode(stringToSign(request.path, str1, await hashBody(body ?? ''))), encodedString);
  });

  const fixed = { appKey, appSecret, clock: () => Date.parse(timestamp), nonce: () => nonce };
  const signer = createSigner(fixed);

  if (!isPlain(vector)) {
    test(`refused: ${vector.name}`, async () => {
      await rejectsWith('path_not_plain', () => signer.sign(input));
      await rejectsWith('path_not_plain', () => explain({ ...input, appKey, nonce, timestamp }));
    });
    continue;
  }

  test(`signed: ${vector.name}`, async () => {
    const method = methodOf(vector);
    const signed = await signer.sign(input);
    assert.deepEqual(
      { ...signed, url: undefined },
      {
        method,
        url: undefined,
        headers: {
          'x-app-key': appKey,
          'x-timestamp': timestamp,
          'x-signature': signature,
          'x-signature-algorithm': 'HMAC-SHA256',
          'x-signature-version': '1.0',
          'x-signature-nonce': nonce,
          'x-version': 'v3',
          ...(method === 'POST' && { 'content-type': 'application/json' }),
        },
        ...(body && { body }),
      },
    );
    assert.equal(new URL(signed.url).href, signed.url);
    assert.equal(signed.url.split('?')[0], urlOf(vector));
    assert.deepEqual([...new URL(signed.url).searchParams], query);
  });

  test(`signed alike with Node's digests: ${vector.name}`, async () => {
    const nodes = createSigner({ ...fixed, digests: nodeDigests });
    assert.deepEqual(await nodes.sign(input), await signer.sign(input));
  });

  test(`explained: ${vector.name}`, async () => {
    const explanation = await explain({ ...input, appKey, nonce, timestamp });
    assert.equal(explanation.encodedString, encodedString);
    assert.equal(percentEncode(explanation.str3), encodedString);
  });
}
