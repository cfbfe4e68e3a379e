/** The token of a user: renewed once when a gateway refuses it, for every request; never after another 401. */

import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { createClient, type TokenSource, viaGateway } from '../../lib/client/index.ts';
import { type RefusalCode, refusalResponse } from '../../lib/gateway/index.ts';
import { each } from '../support/each.ts';
import { catalogue, failure, orderOf } from './support.ts';

const baseUrl = 'https://gateway.example.com';

const answerOf = (code: RefusalCode) => {
  const { status, headers, body } = refusalResponse({ code }, 'request-1');
  return new Response(new TextDecoder().decode(body), { status, headers });
};

interface Sent {
  readonly authorization: string | null;
  readonly body: unknown;
}

/** A gateway that accepts these tokens, and a user with `token-1`, or none, whom a renewal gives `token-2`. */
function world({
  accepted = ['token-2'],
  isSignedIn = true,
}: {
  readonly accepted?: readonly string[];
  readonly isSignedIn?: boolean;
} = {}) {
  const sent: Sent[] = [];
  const asked: boolean[] = [];
  let current = isSignedIn ? 'token-1' : undefined;
  const token: TokenSource = async ({ renew }) => {
    asked.push(renew);
    if (renew) current = 'token-2';
    return current;
  };
  const fetch: typeof globalThis.fetch = async (_url, { headers, body } = {}) => {
    const authorization = new Headers(headers).get('authorization');
    sent.push({ authorization, body });
    if (authorization === null) return answerOf('missing_token');
    return accepted.some((one) => authorization === `Bearer ${one}`)
      ? Response.json(body === undefined ? [] : { order_id: '1', client_order_id: '2' })
      : answerOf('invalid_token');
  };
  const clientWith = (source: TokenSource) =>
    createClient(catalogue, viaGateway({ baseUrl, apiKey: 'key', token: source, fetch }));
  return { sent, asked, client: clientWith(token), clientWith };
}

const bearers = (sent: readonly Sent[]) => sent.map(({ authorization }) => authorization);
const renewals = (asked: readonly boolean[]) => asked.filter(Boolean).length;

describe('a token that the gateway refuses', () => {
  test('is renewed, and a read sent once more', async () => {
    const { client, sent, asked } = world();
    assert.deepEqual(await client.listAccounts(), []);
    assert.deepEqual(bearers(sent), ['Bearer token-1', 'Bearer token-2']);
    assert.equal(renewals(asked), 1);
    await client.listAccounts();
    assert.equal(renewals(asked), 1);
  });

  test('so is an order, with the same bytes: the 401 says that the first had no effect', async () => {
    const { client, sent } = world();
    const order = orderOf();
    assert.equal((await client.placeOrder(order)).order_id, '1');
    assert.deepEqual(bearers(sent), ['Bearer token-1', 'Bearer token-2']);
    assert.deepEqual(each(sent, 'body'), [JSON.stringify(order), JSON.stringify(order)]);
  });

  test('is renewed once a call: the second 401 is its error', async () => {
    const { client, sent, asked } = world({ accepted: [] });
    for (const call of [() => client.listAccounts(), () => client.placeOrder(orderOf())]) {
      const { status, code } = await failure('refused', call());
      assert.deepEqual([status, code], [401, 'invalid_token']);
    }
    // The source keeps what it renewed, so that the second call begins with it, and gets no other.
    assert.deepEqual(bearers(sent), ['Bearer token-1', 'Bearer token-2', 'Bearer token-2']);
    assert.equal(renewals(asked), 2);
  });

  test('is renewed once for all calls that it was refused to', async () => {
    const { client, sent, asked } = world();
    await Promise.all(Array.from({ length: 50 }, () => client.listAccounts()));
    assert.equal(renewals(asked), 1);
    assert.equal(sent.length, 100);
  });

  test('is not renewed again for a call whose refusal comes when another call has renewed it', async () => {
    let current = 'token-1';
    let renewed = 0;
    const answers: ((answer: Response) => void)[] = [];
    let waits: { readonly count: number; readonly arrived: () => void } | undefined;
    const client = createClient(
      catalogue,
      viaGateway({
        baseUrl,
        token: ({ renew }) => {
          if (renew) current = `token-${1 + ++renewed}`;
          return current;
        },
        fetch: () =>
          new Promise((resolve) => {
            if (answers.push(resolve) === waits?.count) waits.arrived();
          }),
      }),
    );
    const sent = (count: number) =>
      new Promise<void>((arrived) => {
        waits = { count, arrived };
      });
    const bothSent = sent(2);
    const [first, second] = [client.listAccounts(), client.listAccounts()];
    await bothSent;
    const repeated = sent(3);
    answers[0]?.(answerOf('invalid_token'));
    await repeated;
    answers[2]?.(Response.json([]));
    await first;
    const secondRepeated = sent(4);
    answers[1]?.(answerOf('invalid_token'));
    await secondRepeated;
    answers[3]?.(Response.json([]));
    await second;
    assert.equal(renewed, 1);
  });

  test('is renewed for each later call of a source that keeps nothing: a renewal belongs to the calls that wait for it', async () => {
    const { clientWith, sent } = world();
    let renewed = 0;
    const source: TokenSource = ({ renew }) => {
      if (!renew) return 'token-1';
      if (++renewed === 1) throw new Error('not now');
      return 'token-2';
    };
    const client = clientWith(source);
    await assert.rejects(client.listAccounts(), /not now/);
    await client.listAccounts();
    await client.listAccounts();
    assert.equal(renewed, 3);
    assert.equal(sent.length, 5);
  });

  test('stays refused where there is no other: a text, the same again, or none', async () => {
    for (const source of [
      'token-1',
      () => 'token-1',
      ({ renew }) => (renew ? undefined : 'token-1'),
    ] satisfies TokenSource[]) {
      const { sent, clientWith } = world();
      const { code } = await failure('refused', clientWith(source).placeOrder(orderOf()));
      assert.equal(code, 'invalid_token');
      assert.equal(sent.length, 1);
    }
  });

  test('may be none before the user signs in: sent without, and asked for when the gateway wants one', async () => {
    const { client, sent, asked } = world({ isSignedIn: false });
    await client.listAccounts();
    assert.deepEqual(bearers(sent), [null, 'Bearer token-2']);
    assert.equal(renewals(asked), 1);
  });
});

describe('a renewal that goes wrong', () => {
  test('passes on what the source throws; an order is not sent again', async () => {
    const { sent, clientWith } = world();
    const gone = new Error('sign in again');
    const client = clientWith(({ renew }) => {
      if (renew) throw gone;
      return 'token-1';
    });
    await assert.rejects(client.placeOrder(orderOf()), (error) => error === gone);
    assert.equal(sent.length, 1);
    await assert.rejects(client.listAccounts(), (error) => error === gone);
  });

  test('that takes too long, or is not waited for: nothing was done', async () => {
    const { sent, clientWith } = world();
    const client = clientWith(({ renew }) => (renew ? new Promise(() => {}) : 'token-1'));
    await failure('timed_out', client.placeOrder(orderOf(), { timeoutMs: 20 }));
    const controller = new AbortController();
    const order = client.placeOrder(orderOf(), { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('left')), 20);
    await assert.rejects(order, /^Error: left$/);
    assert.equal(sent.length, 2);
  });

  test('a token that no header carries', async () => {
    const { clientWith } = world();
    const client = clientWith(({ renew }) => (renew ? 'a\nb' : 'token-1'));
    await assert.rejects(client.listAccounts(), { name: 'TypeError', message: /^token: / });
  });
});

const ours = JSON.parse(await answerOf('invalid_token').text()) as Record<string, unknown>;

/** Answers after which a renewed token would change nothing, or of which it is not certain who gave them. */
const otherAnswers: Readonly<Record<string, () => Response>> = {
  'a proxy’s 401 without a body': () => new Response(null, { status: 401 }),
  'a page': () => new Response('<html>401</html>', { status: 401 }),
  'an OAuth server’s error': () => Response.json({ error: 'invalid_token' }, { status: 401 }),
  'another server’s code of the same name': () => Response.json({ code: 'invalid_token' }, { status: 401 }),
  'another server’s with a status': () =>
    Response.json({ status: 401, code: 'invalid_token' }, { status: 401 }),
  'the upstream’s own': () => Response.json({ error_code: 'UNAUTHORIZED', message: 'no' }, { status: 401 }),
  'ours with another code': () => Response.json({ ...ours, code: 'forbidden' }, { status: 401 }),
  'ours with another status': () => Response.json(ours, { status: 403 }),
  'ours with another status in it': () => Response.json({ ...ours, status: 403 }, { status: 401 }),
  'a list': () => Response.json([ours], { status: 401 }),
  'a missing scope': () => answerOf('insufficient_scope'),
  'a foreign account': () => answerOf('account_not_granted'),
  'a directory that is away': () => answerOf('access_unavailable'),
  'a lost answer': () => answerOf('outcome_unknown'),
};

/** Counts what is sent to a server with these answers, the last of them for ever. */
async function sends(
  answers: readonly (() => Response)[],
  call: (client: ReturnType<ReturnType<typeof world>['clientWith']>) => Promise<unknown>,
) {
  let sent = 0;
  let renewed = 0;
  const client = createClient(
    catalogue,
    viaGateway({
      baseUrl,
      token: ({ renew }) => (renew ? `token-${++renewed}` : 'token'),
      fetch: async () => answers[Math.min(sent++, answers.length - 1)]!(),
    }),
  );
  const error: unknown = await call(client).catch((reason: unknown) => reason);
  return { sent, renewed, error };
}

describe('what is never repeated', () => {
  for (const [name, answer] of Object.entries(otherAnswers))
    test(`a request after ${name}`, async () => {
      for (const call of ['read', 'order'])
        assert.deepEqual(
          await sends([answer], (client) =>
            call === 'read' ? client.listAccounts() : client.placeOrder(orderOf()),
          ).then(({ sent, renewed }) => [sent, renewed]),
          [1, 0],
        );
    });

  test('an order, unless the first answer is the gateway’s refusal of its token', async () => {
    const refused = [() => answerOf('invalid_token'), () => answerOf('missing_token')];
    const any = fc.constantFrom(...refused, ...Object.values(otherAnswers), () => Response.json({}));
    await fc.assert(
      fc.asyncProperty(fc.array(any, { minLength: 1, maxLength: 4 }), async (answers) => {
        const { sent, error } = await sends(answers, (client) => client.placeOrder(orderOf()));
        const isRefused = refused.includes(answers[0]!);
        assert.equal(sent, isRefused ? 2 : 1);
        assert.doesNotMatch(inspect(error), /Bearer token|token-1/);
      }),
    );
  });

  test('an order whose second answer is lost: what became of it is unknown', async () => {
    let sent = 0;
    const client = createClient(
      catalogue,
      viaGateway({
        baseUrl,
        token: ({ renew }) => `token-${renew}`,
        fetch: async () => {
          if (++sent === 1) return answerOf('invalid_token');
          throw new TypeError('terminated');
        },
      }),
    );
    await failure('outcome_unknown', client.placeOrder(orderOf()));
    assert.equal(sent, 2);
  });
});

test('no error and no line of the console has the token', async () => {
  const canary = 'canary-of-a-token';
  const lines: unknown[] = [];
  const { log, error: logError, warn } = console;
  Object.assign(
    console,
    Object.fromEntries(
      ['log', 'error', 'warn'].map((name) => [name, (...given: unknown[]) => lines.push(given)]),
    ),
  );
  try {
    for (const fetch of [
      async () => answerOf('invalid_token'),
      async () => answerOf('account_not_granted'),
      async () => Promise.reject(new TypeError('fetch failed')),
      async () => new Response('{', { status: 200 }),
    ])
      for (const token of [
        canary,
        () => canary,
        ({ renew }) => `${canary}\n${renew}`,
      ] satisfies TokenSource[]) {
        const client = createClient(catalogue, viaGateway({ baseUrl, token, fetch }));
        for (const call of [client.listAccounts(), client.placeOrder(orderOf())])
          lines.push(await call.catch((error: unknown) => error));
      }
  } finally {
    Object.assign(console, { log, error: logError, warn });
  }
  const text = lines.map((line) => inspect(line, { depth: 10, showHidden: true })).join('\n');
  assert.match(text, /invalid_token/);
  assert.doesNotMatch(text, new RegExp(canary));
});
