/** What of an event shows who sends it: what API Gateway has checked, and nothing that a client wrote. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { evidenceIn } from '../../functions/events/evidence.ts';
import { type ProxyEvent, toGatewayRequest } from '../../functions/events/rest-proxy.ts';
import { claimsOf } from '../support/access.ts';

const claims = claimsOf('anna');

test('a key by its id, an AWS identity without its session, a token by the authorizer’s claims', () => {
  assert.equal(evidenceIn({}), undefined);
  assert.deepEqual(evidenceIn({ identity: { apiKeyId: 'key-1', userArn: null } }), { apiKeyId: 'key-1' });
  const userArn = 'arn:aws:sts::123456789012:assumed-role/traders/anna.example';
  assert.deepEqual(evidenceIn({ identity: { userArn } }), {
    iamArn: 'arn:aws:iam::123456789012:role/traders',
  });
  assert.deepEqual(evidenceIn({ authorizer: { claims: JSON.stringify(claims) } }), { claims });
});

test('claims that are not the authorizer’s own form count as none', () => {
  const wrong = [
    undefined,
    claims,
    '',
    '{',
    'null',
    '[]',
    ...Object.keys(claims)
      .filter((name) => name !== 'clientId')
      .map((name) => JSON.stringify({ ...claims, [name]: undefined })),
    JSON.stringify({ ...claims, scopes: 'read' }),
    JSON.stringify({ ...claims, accounts: '*' }),
    JSON.stringify({ ...claims, expiresAt: '1' }),
  ];
  for (const one of wrong) assert.equal(evidenceIn({ authorizer: { claims: one } }), undefined, String(one));
  fc.assert(
    fc.property(fc.json(), (text) => {
      assert.equal(evidenceIn({ authorizer: { claims: text } }), undefined);
    }),
  );
});

const event = (headers: Readonly<Record<string, readonly string[]>>): ProxyEvent =>
  ({
    resource: '/',
    httpMethod: 'GET',
    headers: Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, values.at(-1)])),
    multiValueHeaders: headers,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    body: null,
    isBase64Encoded: false,
    requestContext: { requestId: 'r' },
  }) as unknown as ProxyEvent;

test('two lines of Authorization stay two: neither is chosen', async () => {
  const { headers } = await toGatewayRequest(event({ Authorization: ['Bearer a', 'Bearer b'] }));
  assert.equal(headers.authorization, 'Bearer a, Bearer b');
  const { headers: one } = await toGatewayRequest(event({ authorization: ['Bearer a'] }));
  assert.equal(one.authorization, 'Bearer a');
});

test('no header of a client is evidence', async () => {
  const { evidence } = await toGatewayRequest(
    event({ claims: [JSON.stringify(claims)], apikeyid: ['key-1'], userarn: ['arn:aws:iam::1:root'] }),
  );
  assert.equal(evidence, undefined);
});
