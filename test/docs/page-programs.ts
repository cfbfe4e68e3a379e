/** The TypeScript of a page as one program: what it needs, and what holds of what it has made. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Simulator } from '../../infra/simulator/index.ts';
import { newOrder } from '../support/orders.ts';
import { blocksOf } from './pages.ts';

/** What the blocks take for granted, with its types. */
export interface Given {
  readonly appKey: string;
  readonly appSecret: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly signal: AbortSignal;
  readonly yourStringToSign: string;
  readonly nonce: string;
  readonly timestamp: string;
  readonly identityKey: string;
  readonly order: object;
}

/** The same, for a program that is compiled apart. */
const givenType = `{ readonly appKey: string; readonly appSecret: string; readonly baseUrl: string; readonly apiKey: string;
  readonly signal: AbortSignal; readonly yourStringToSign: string; readonly nonce: string; readonly timestamp: string;
  readonly identityKey: string; readonly order: object }`;

/** @param baseUrl of an upstream that takes these credentials */
export const given = (baseUrl: string): Given => ({
  appKey: 'readme-key',
  appSecret: 'readme-secret',
  baseUrl,
  apiKey: '',
  signal: AbortSignal.timeout(60_000),
  yourStringToSign: '/somewhere/else',
  nonce: 'n',
  timestamp: '2026-11-17T09:30:00Z',
  identityKey: 'of-the-readme-0123456789-0123456789',
  order: {
    account_id: 'Q7H2ML0V4T9XKD1RBE5ZC8PA3S',
    new_orders: [newOrder({ order_type: 'LIMIT', limit_price: '20.00' })],
  },
});

/**
 * A module with a function `run`, which does what all blocks do one after the other.
 *
 * @param names what of its values is given back
 * @param moduleOf where the program finds an entry of the package
 */
export function programOf(
  page: string,
  names: readonly string[],
  moduleOf: (entry: string) => string = (entry) => entry,
): string {
  const imports = new Map<string, Set<string>>();
  const body = blocksOf(page, 'ts')
    .join('\n')
    .replaceAll(/^import \{([^}]*)\} from '([^']+)';$/gm, (_, list: string, from: string) => {
      const found = imports.get(from) ?? new Set();
      for (const name of list.split(',')) if (name.trim()) found.add(name.trim());
      imports.set(from, found);
      return '';
    });
  const lines = [...imports].map(
    ([from, found]) => `import { ${[...found].join(', ')} } from '${moduleOf(from)}';`,
  );
  return `${lines.join('\n')}
export async function run(
  { appKey, appSecret, baseUrl, apiKey, signal, yourStringToSign, nonce, timestamp, identityKey, order }: ${givenType},
  console: { log(...words: unknown[]): void },
) {
  void [apiKey, signal, yourStringToSign, nonce, timestamp, identityKey, order];
${body}
return { ${names.join(', ')} };
}
`;
}

export interface Result {
  readonly names: readonly string[];
  /** `lines` are what the program has logged. */
  holds(made: never): unknown;
}

const isSignedAndAnswered = ({ url, response }: { url: string; response: Response }) => {
  assert.match(url, /symbols=AAPL%2CMSFT/);
  assert.equal(response.status, 200);
};

/** Of each page that needs no more than the simulated upstream. */
export const results: Readonly<Record<string, Result>> = {
  'README.md': { names: ['url', 'response'], holds: isSignedAndAnswered },
  'docs/library.md': {
    names: ['url', 'response'],
    holds(made: { url: string; response: Response; lines: string[] }) {
      isSignedAndAnswered(made);
      assert.match(made.lines.join('\n'), /differs at character 1/);
    },
  },
  'docs/embedding.md': {
    names: ['placed', 'replayed', 'settled', 'response', 'stream', 'server'],
    async holds({ placed, replayed, settled, response, stream, server }: Embedded) {
      assert.equal(response.status, 200);
      assert.deepEqual(
        ((await response.json()) as { symbol: string }[]).map(({ symbol }) => symbol),
        ['AAPL'],
      );
      const texts = [await placed.text(), await replayed.text()];
      assert.deepEqual([placed.status, replayed.status], [200, 200], texts.join('\n'));
      assert.deepEqual(
        [placed, replayed].map(({ headers }) => headers.get('idempotent-replayed')),
        [null, 'true'],
      );
      assert.equal(texts[1], texts[0]);
      assert.deepEqual([settled.left, settled.refused], [0, 0]);
      const reader = stream.body!.getReader();
      const { value = new Uint8Array() } = await reader.read();
      assert.match(new TextDecoder().decode(value), /^retry: 1000\n\nevent: snapshot\ndata: .*"AAPL"/);
      await reader.cancel();
      if (!server.listening) await once(server, 'listening');
      const { port } = server.address() as { port: number };
      const answered = await fetch(`http://127.0.0.1:${port}/trading/accounts/list`);
      assert.equal(answered.status, 200);
      server.close();
    },
  },
  'docs/simulator.md': {
    names: ['quote', 'failure', 'placed', 'upstream', 'refused', 'answer', 'now'],
    holds({ quote, failure, placed, upstream, refused, answer, now }: Simulated) {
      assert.equal(quote?.symbol, 'AAPL');
      assert.equal((failure as { code?: string }).code, 'outcome_unknown');
      assert.deepEqual(
        [placed, ...upstream.orders].map((one) => JSON.stringify(one).includes('my-first-order')),
        [true, true],
      );
      assert.deepEqual(
        upstream.received.map(({ outcome, fault }) => fault ?? outcome),
        ['ok', 'drop-after', 'ok'],
      );
      assert.equal((refused as { status?: number }).status, 503);
      const age = now - answer.data[0]!.last_trade_time;
      assert.ok(age >= 0 && age < 60_000, `${age}`);
    },
  },
  'docs/limits.md': {
    names: ['permitted'],
    holds({ permitted, lines }: { permitted: { ok: boolean }; lines: string[] }) {
      assert.deepEqual([permitted.ok, lines.length], [true, 0]);
    },
  },
  'docs/events.md': {
    names: ['entry'],
    holds({ entry }: { entry: { DetailType?: string } }) {
      assert.equal(entry.DetailType, 'QuoteLookupRequested');
    },
  },
};

interface Simulated {
  readonly quote: { readonly symbol: string } | undefined;
  readonly failure: unknown;
  readonly placed: unknown;
  readonly upstream: Simulator;
  readonly refused: unknown;
  readonly answer: { readonly data: readonly { readonly last_trade_time: number }[] };
  readonly now: number;
}

interface Embedded {
  readonly placed: Response;
  readonly replayed: Response;
  readonly settled: { readonly left: number; readonly refused: number };
  readonly response: Response;
  readonly stream: Response;
  readonly server: Server;
}
