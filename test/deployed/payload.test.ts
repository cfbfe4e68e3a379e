import assert from 'node:assert/strict';
import { test } from 'vitest';
import { fitsLambda } from '../../functions/events/payload.ts';
import { toProxyResult } from '../../functions/events/rest-proxy.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { createGateway, type RequestReport } from '../../lib/gateway/index.ts';
import { each } from '../support/each.ts';
import { accountsRequest, orderRequest } from './send.contract.ts';

/** Lambda's own limit, in bytes of JSON. */
const limit = 6_291_556;

const jsonOf = (texts: number, text: string) =>
  Buffer.from(JSON.stringify(Array(Math.floor(texts)).fill(text)));
const envelopeOf = (body: Uint8Array) =>
  Buffer.byteLength(
    JSON.stringify(
      toProxyResult({ status: 200, headers: { 'x-upstream-request-id': 'x'.repeat(2000) }, body }),
    ),
  );

test('what fits stays within the limit once it is escaped, and little that would fit is turned away', () => {
  const bodies = {
    quotes: (size: number) => jsonOf(size / 4, 'a'),
    escapes: (size: number) => jsonOf(size / 404, '"'.repeat(200)),
    plain: (size: number) => jsonOf(1, 'x'.repeat(size)),
    wide: (size: number) => jsonOf(1, 'é'.repeat(size / 2)),
    whiteSpace: (size: number) => Buffer.from(`[${'\n'.repeat(size)}]`),
  };
  for (const [name, make] of Object.entries(bodies))
    for (const size of [
      1_000_000, 3_100_000, 3_500_000, 4_100_000, 4_500_000, 6_200_000, 6_290_000, 7_000_000,
    ]) {
      const body = make(size);
      const bytes = envelopeOf(body);
      if (fitsLambda(body)) assert(bytes <= limit, `${name} ${size}`);
      else assert(bytes > limit - 20_000, `${name} ${size}`);
    }
});

test('an answer that cannot be carried is refused; an order is then not to be sent again', async () => {
  const reports: RequestReport[] = [];
  const gateway = createGateway({
    access: 'single-user',
    operations,
    upstreamBaseUrl: 'https://upstream.example',
    secrets: { read: async () => '{"app_key":"k","app_secret":"s"}' },
    canCarry: fitsLambda,
    send: async () => ({
      kind: 'answer',
      status: 200,
      header: () => undefined,
      body: new Uint8Array(jsonOf(1_100_000, 'a')),
    }),
    report: (report) => reports.push(report),
  });
  await gateway.handle(accountsRequest);
  const { body } = await gateway.handle(orderRequest('a'));
  assert.deepEqual(each(reports, 'code'), ['upstream_answer_too_large', 'outcome_unknown']);
  assert.match(Buffer.from(body).toString(), /find_out/);
});
