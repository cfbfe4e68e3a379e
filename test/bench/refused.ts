/** How much processor time the dearest refused body of each operation takes: what a caller can make the gateway spend. */

import { operations } from '../../lib/catalogue/index.ts';
import { maxBodyBytesOf } from '../../lib/catalogue/validation.ts';
import { createGateway } from '../../lib/gateway/index.ts';
import { requestOf } from '../support/core.ts';
import { type Figures, median, type Size } from '../support/figures.ts';

const mebibyte = 1024 * 1024;

/** Bodies of so many characters, each made to keep a check busy. */
const bodies: Readonly<Record<string, (length: number) => string>> = {
  'opening brackets': (length) => '['.repeat(length),
  'nested lists': (length) => '['.repeat(length / 2) + ']'.repeat(length / 2),
  'nested objects': (length) => '{"":'.repeat(length / 4),
  'empty lists': (length) => `{"a":${listOf('[]', length - 10)}}`,
  'names of members': (length) =>
    `{${Array.from({ length: length / 12 }, (_, at) => `"${String(at).padStart(7, '0')}":0`).join(',')}}`,
  'a name twice': (length) => `{"a":${listOf('1', length - 20)},"a":1}`,
  escapes: (length) => `{"a":"${'\\u003c'.repeat((length - 10) / 6)}"}`,
  'white space': (length) => ' '.repeat(length),
  'line breaks': (length) => `${'\n'.repeat(length - 1)}x`,
  'an open text': (length) => `"${'a'.repeat(length - 1)}`,
  'no JSON at the end': (length) => listOf('1', length - 2).replace(/\]$/, 'x'),
  'members that may be parsed': (length) =>
    `{${Array.from({ length: Math.min(4000, length / 24) }, (_, at) => `"${at}":0`).join(',')},"":"${'\\u0000'.repeat(length / 12)}"}`,
  'levels that may be parsed': (length) =>
    listOf(`${'{"":'.repeat(29)}1${'}'.repeat(29)}`, Math.min(length, 20_000)) +
    ' '.repeat(Math.max(0, length - 20_000)),
  'empty orders': (length) => `{"account_id":"a","new_orders":${listOf('{}', length - 40)}}`,
  'numbers for orders': (length) => `{"account_id":"a","new_orders":${listOf('1', length - 40)}}`,
  'empty symbols': (length) => `{"category":"US_STOCK","symbols":${listOf('""', length - 40)}}`,
  'empty instruments': (length) => `{"watchlist_id":"a","instruments":${listOf('{}', length - 40)}}`,
};

function listOf(item: string, length: number): string {
  return `[${`${item},`.repeat(length / (item.length + 1) - 1)}${item}]`;
}

/** Prints the dearest body of each operation, at the largest size that the operation takes and at 1 MiB. */
export async function benchRefused({ rounds, warmUp }: Size): Promise<Figures> {
  const gateway = createGateway({
    operations,
    upstreamBaseUrl: 'https://upstream.example',
    secrets: { read: async () => JSON.stringify({ app_key: 'key', app_secret: 'secret' }) },
    access: 'single-user',
    send: async () => ({ kind: 'not_sent' }),
  });
  const figures: Record<string, number> = {};
  console.log(`Refused bodies: processor time of the dearest, median of ${rounds}`);
  for (const operation of operations.filter(({ body }) => body))
    for (const bytes of [maxBodyBytesOf(operation), mebibyte]) {
      const times = [];
      for (const [name, bodyOf] of Object.entries(bodies)) {
        const request = requestOf(operation.path, { body: bodyOf(bytes) });
        const spent = [];
        for (let round = 0; round < rounds + warmUp; round++) {
          const before = process.cpuUsage();
          const { status } = await gateway.handle(request);
          const { user, system } = process.cpuUsage(before);
          // A good body of an operation that takes any member is sent.
          if (round >= warmUp && status < 500) spent.push((user + system) / 1000);
        }
        if (spent.length > 0) times.push({ name, ms: median(spent) });
      }
      const dearest = times.reduce((most, one) => (one.ms > most.ms ? one : most));
      figures[`${operation.id}, ${bytes / 1024} KiB`] = dearest.ms;
      console.log(
        `  ${operation.id.padEnd(28)} ${`${bytes / 1024} KiB`.padStart(9)} ${dearest.ms.toFixed(2).padStart(8)} ms   ${dearest.name}`,
      );
    }
  return figures;
}
