/**
 * What the signer adds to WebCrypto: the same digest and HMAC alone, on finished bytes, are the floor below
 * which no signer over WebCrypto can go.
 */

import { nodeDigests } from '../../functions/aws/node-digests.ts';
import { importSigningKey, utf8 } from '../../lib/signer/canonical.ts';
import { createSigner, explain, type SignInput } from '../../lib/signer/index.ts';
import { type Figures, median, type Size } from '../support/figures.ts';

const callsPerRound = 25;

const appKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';
const appSecret = '0f9e8d7c6b5a49382716051423324150';
const url = 'https://api.example.com/openapi/market-data/stock/snapshot';
const json = (length: number) => `{"text":"${'x'.repeat(length - '{"text":""}'.length)}"}`;
const cases: readonly (readonly [name: string, input: SignInput])[] = [
  [
    'GET, 4 parameters',
    {
      url,
      query: {
        symbols: 'AAPL,MSFT',
        category: 'US_STOCK',
        extend_hour_required: false,
        overnight_required: false,
      },
    },
  ],
  ['POST 300 B', { url, body: json(300) }],
  ['POST 16 KiB', { url, body: json(16_384) }],
];

/** Prints medians and their ratio. Sequential calls wander between cores: pin with `taskset -c 0`. */
export async function benchSigner({ rounds, warmUp }: Size): Promise<Figures> {
  const figures: Record<string, number> = {};
  const signer = createSigner({ appKey, appSecret });
  const withNodes = createSigner({ appKey, appSecret, digests: nodeDigests });
  const key = await importSigningKey(appSecret, 'sign');
  console.log(`Signer: µs per call, median of ${rounds} rounds of ${callsPerRound}, taken in turn`);
  for (const [name, input] of cases) {
    const body = utf8(String(input.body ?? ''));
    const sent = { ...input, appKey, nonce: 'n'.repeat(32), timestamp: '2026-11-17T09:30:00Z' };
    const message = utf8((await explain(sent)).encodedString);
    const floor = async () => {
      if (body.length > 0) await crypto.subtle.digest('SHA-256', body);
      await crypto.subtle.sign('HMAC', key, message);
    };
    const times = { floor: [] as number[], sign: [] as number[], node: [] as number[] };
    for (let round = 0; round < rounds + warmUp; round++) {
      // Taken in turn, so that other work of the machine falls on all.
      const alone = await timed(floor);
      const signed = await timed(() => signer.sign(input));
      const node = await timed(() => withNodes.sign(input));
      if (round < warmUp) continue;
      times.floor.push(alone);
      times.sign.push(signed);
      times.node.push(node);
    }
    const [alone, signed, node] = [median(times.floor), median(times.sign), median(times.node)];
    Object.assign(figures, {
      [`${name}, WebCrypto alone`]: alone,
      [`${name}, signer`]: signed,
      [`${name}, signer with Node's digests`]: node,
    });
    console.log(
      `  ${name.padEnd(20)} WebCrypto alone ${alone.toFixed(1).padStart(6)}   signer ${signed.toFixed(1).padStart(6)}   ratio ${(signed / alone).toFixed(2)}   with Node's digests ${node.toFixed(1).padStart(6)}   ratio ${(node / alone).toFixed(2)}`,
    );
  }
  return figures;
}

/** Microseconds per call. */
async function timed(call: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  for (let calls = 0; calls < callsPerRound; calls++) await call();
  return ((performance.now() - started) * 1000) / callsPerRound;
}
