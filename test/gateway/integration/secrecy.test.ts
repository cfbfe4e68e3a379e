import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { describe, type TestContext, test, vi } from 'vitest';
import type { ApiFault, FaultRequest, SimulatorOptions } from '../../../infra/simulator/index.ts';
import type { GatewayOptions } from '../../../lib/gateway/index.ts';
import { closedPort } from '../../support/closed-port.ts';
import {
  accountsPath,
  ask,
  coreFor,
  gatewayOf,
  orderBody,
  orderPath,
  type Reply,
  secretText,
} from '../../support/core.ts';
import { senders } from '../../support/senders.ts';

/** Texts that occur nowhere else, and so betray even a part of themselves. */
const secret = 'QzCanarySecretXv0123456789abcdefghijklmn';
const token = 'JwCanaryTokenKp9876543210zyxwvutsrqponml';
const appKey = 'UmCanaryKeyRd';

function assertSecret(said: unknown): void {
  const text =
    typeof said === 'string' ? said : inspect(said, { depth: Infinity, maxStringLength: Infinity });
  for (const hidden of [secret, token])
    for (let at = 0; at + 8 <= hidden.length; at++)
      assert.ok(!text.includes(hidden.slice(at, at + 8)), `${hidden} shows in ${text}`);
}

/** Everything that goes to the console while the test runs. */
function listenToConsole(): unknown[] {
  const logged: unknown[] = [];
  for (const method of ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir', 'table'] as const)
    vi.spyOn(console, method).mockImplementation((...given: unknown[]) => void logged.push(given));
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    vi.spyOn(stream, 'write').mockImplementation((...said: unknown[]) => {
      logged.push(String(said[0]));
      return write(...(said as Parameters<typeof write>));
    });
  }
  return logged;
}

/** Brings a situation about, with a read and with an order, and searches all that was said of it. */
async function searched(
  t: TestContext,
  simulated: Partial<SimulatorOptions>,
  options: Partial<GatewayOptions> = {},
): Promise<Reply[]> {
  const logged = listenToConsole();
  const { gateway, reports } = await coreFor(
    t,
    { appKey, appSecret: secret, accessToken: token, ...simulated },
    {
      secrets: { read: async () => secretText({ appKey, appSecret: secret }, token) },
      maxAnswerBytes: 5000,
      ...options,
    },
  );
  const replies = [
    await ask(gateway, accountsPath, { headers: { 'x-access-token': 'of-the-client' } }),
    await ask(gateway, orderPath, { body: orderBody() }),
    await ask(gateway, '/unknown'),
    await ask(gateway, accountsPath, {}, 'PUT'),
    await ask(gateway, `${accountsPath}?wrong=1`),
  ];
  assert.equal(reports.length, replies.length);
  vi.restoreAllMocks();
  assertSecret(replies.map(({ text, headers, status }) => ({ text, headers, status })));
  assertSecret(reports);
  assertSecret(logged);
  return replies;
}

/** What an unkind upstream could say: all it knows, so long that it is cut somewhere. */
const echo = (status: number, errorCode: string, padding: number): ((request: FaultRequest) => ApiFault) => {
  const known = `${token} ${secret}& ${secret}${token}`;
  return ({ headers }: FaultRequest): ApiFault => ({
    kind: 'status',
    status,
    headers: { 'x-request-id': secret, 'retry-after': secret, location: `/${token}`, 'x-secret': secret },
    body: {
      error_code: `${errorCode}${errorCode && '_'}${'c'.repeat(padding % 100)}${known}`,
      message: `${'m'.repeat(padding)}${known} ${headers['x-signature']} ${'w'.repeat(padding)}${known}`,
    },
  });
};

describe('neither secret nor token is said when the upstream', () => {
  for (const status of [302, 400, 401, 403, 404, 417, 429, 500, 503])
    for (const errorCode of ['', 'INCORRECT_SIGN', 'UNAUTHORIZED_CATEGORY'])
      test(`answers ${status} ${errorCode} and says all it knows`, async (t) => {
        for (const padding of [0, 61, 70, 90, 99, 210, 437, 470, 485, 495])
          await searched(t, { fault: echo(status, errorCode, padding) });
      });

  test('says it in words that the client is told, of which the rest arrives', async (t) => {
    const body = { error_code: 'INVALID_PARAMETER', message: `Parameter error, ${secret}, of ${appKey}` };
    const [reply] = await searched(t, { fault: () => ({ kind: 'status', status: 417, body }) });
    assert.equal(JSON.parse(reply?.text ?? '').message, 'Parameter error, [redacted], of [redacted]');
  });

  for (const kind of ['drop', 'hang', 'drop-after', 'hang-after', 'truncate', 'not-json'] as const)
    test(`lets us down: ${kind}`, async (t) => {
      await searched(
        t,
        { fault: () => ({ kind }) },
        kind.startsWith('hang') ? { upstreamTimeoutMs: 300 } : {},
      );
    });

  test('answers too much', async (t) => {
    await searched(t, { fault: () => ({ kind: 'oversized', bytes: 6000 }) });
  });

  test('refuses the secret, the key or the token', async (t) => {
    for (const [other, code] of [
      [{ appSecret: 'another' }, 'upstream_auth_failed'],
      [{ appKey: 'another' }, 'upstream_auth_failed'],
      [{ accessToken: 'another' }, 'upstream_token_expired'],
    ] as const) {
      const [reply] = await searched(t, other);
      assert.equal(JSON.parse(reply?.text ?? '').code, code);
    }
  });

  test('names a request by it', async (t) => {
    const headers = { 'x-request-id': secret };
    const [reply] = await searched(t, {
      fault: () => ({ kind: 'status', status: 200, headers, body: '[]' }),
    });
    assert.equal(reply?.headers['x-upstream-request-id'], '[redacted]');
  });

  test('serves the request', async (t) => {
    const [read, order] = await searched(t, {});
    assert.deepEqual([read?.status, order?.status], [200, 200]);
  });

  for (const [sender, createSend] of senders)
    test(`is not there, asked over ${sender}`, async (t) => {
      const upstreamBaseUrl = `http://127.0.0.1:${await closedPort()}`;
      const [reply] = await searched(t, {}, { upstreamBaseUrl, send: createSend() });
      assert.equal(JSON.parse(reply?.text ?? '').code, 'upstream_unreachable');
    });
});

describe('neither secret nor token is said when', () => {
  for (const [name, text] of [
    ['no JSON', `app_secret=${secret}&access_token=${token}`],
    ['cut off', `{"app_key":"k","app_secret":"${secret}","access_token":"${token}`],
    ['a text', JSON.stringify(secret)],
    ['of other types', JSON.stringify({ app_key: 1, app_secret: secret, access_token: token })],
    ['lacking the key', JSON.stringify({ app_secret: secret, access_token: token })],
    ['unusable', JSON.stringify({ app_key: 'a key', app_secret: secret })],
    [
      'with an unusable token',
      JSON.stringify({ app_key: 'k', app_secret: secret, access_token: `${token}\n` }),
    ],
    ['a lone surrogate', JSON.stringify({ app_key: 'k', app_secret: `${secret}\ud800` })],
  ] as const) {
    test(`the secret is ${name}`, async (t) => {
      const [reply] = await searched(t, {}, { secrets: { read: async () => text } });
      assert.equal(JSON.parse(reply?.text ?? '').code, 'secret_invalid');
    });
  }

  test('its source fails and says it', async (t) => {
    const read = async () => {
      throw new Error(`cannot parse ${secret} and ${token}`, { cause: { secret } });
    };
    const [reply] = await searched(t, {}, { secrets: { read } });
    assert.equal(JSON.parse(reply?.text ?? '').code, 'secret_unavailable');
  });

  test('a defect of ours ends the request', async (t) => {
    const send = async () => {
      throw new Error('a defect');
    };
    await searched(t, {}, { send });
    const random = () => 'not a nonce';
    await searched(t, {}, { nonce: random });
    await searched(t, {}, { clock: () => Number.NaN });
  });

  test('somebody looks at the gateway', async () => {
    const gateway = gatewayOf({
      secrets: { read: async () => secretText({ appKey, appSecret: secret }, token) },
      send: async () => ({ kind: 'unreachable' }),
    });
    await ask(gateway, accountsPath);
    assertSecret(inspect(gateway, { showHidden: true, depth: Infinity }));
  });
});
