import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'vitest';
import type { SimulatorOptions } from '../../infra/simulator/index.ts';
import type { GatewayOptions, SecretVersion } from '../../lib/gateway/index.ts';
import {
  accountsPath,
  ask,
  coreFor,
  credentials,
  orderBody,
  orderPath,
  problemOf,
  secretText,
} from '../support/core.ts';
import { each } from '../support/each.ts';

const rotated = { appKey: 'rotated-app-key', appSecret: 'rotated-app-secret' };
const wrong = secretText({ appKey: credentials.appKey, appSecret: 'not the secret' });

/** What the simulator asks for, where it asks for one. */
const token = { accessToken: 'the-access-token' };

type Secret = string | undefined | Error | Promise<string>;

/** A gateway whose secret and clock the test moves, and which counts how often the secret is read. */
async function vaultFor(
  t: TestContext,
  first: Secret,
  options: Partial<GatewayOptions> = {},
  simulated: Partial<SimulatorOptions> = {},
) {
  const vault = { now: Date.UTC(2026, 10, 17, 9, 30), current: first, previous: undefined as Secret };
  const reads = { current: 0, previous: 0 };
  const clock = () => vault.now;
  const secrets = {
    async read(version: SecretVersion = 'current') {
      reads[version]++;
      const secret = vault[version];
      if (secret instanceof Error) throw secret;
      return secret;
    },
  };
  const core = await coreFor(t, { clock, ...simulated }, { clock, secrets, ...options });
  const status = async () => (await ask(core.gateway, accountsPath)).status;
  const order = () => ask(core.gateway, orderPath, { body: orderBody() });
  return { ...core, vault, reads, status, order };
}

describe('the secret', () => {
  test('is not read before it is needed', async (t) => {
    const { gateway, reads } = await vaultFor(t, secretText());
    await ask(gateway, '/unknown');
    await ask(gateway, `${accountsPath}?wrong=1`);
    assert.equal(reads.current, 0);
  });

  test('is read ahead when that is asked for, a failure being left to the request', async (t) => {
    const { gateway, reads, vault, status } = await vaultFor(t, new Error('down'), { readSecretAhead: true });
    assert.equal(reads.current, 1);
    assert.equal(problemOf(await ask(gateway, accountsPath)).code, 'secret_unavailable');
    vault.current = secretText();
    assert.equal(await status(), 200);
  });

  for (const [period, ms, options] of [
    ['for 5 minutes', 300_000, {}],
    ['in the time that the deployer says', 1000, { secretTimeToLiveMs: 1000 }],
  ] as const)
    test(`is read once ${period}`, async (t) => {
      const { vault, reads, status } = await vaultFor(t, secretText(), options);
      for (const [later, expected] of [
        [0, 1],
        [0, 1],
        [ms - 1, 1],
        [1, 2],
        [ms - 1, 2],
        [1, 3],
      ] as const) {
        vault.now += later;
        assert.equal(await status(), 200);
        assert.equal(reads.current, expected);
      }
    });

  test('is read once for any number of first requests', async (t) => {
    const { gateway, simulator, vault, reads } = await vaultFor(t, undefined);
    let give = (_: string) => {};
    vault.current = new Promise((resolve) => {
      give = resolve;
    });
    const asked = Array.from({ length: 20 }, () => ask(gateway, accountsPath));
    await new Promise(setImmediate);
    assert.equal(simulator.received.length, 0);
    give(secretText());
    for (const reply of await Promise.all(asked)) assert.equal(reply.status, 200);
    assert.equal(reads.current, 1);
  });

  test('that was good outlives a source that cannot be asked, which is spared for a while', async (t) => {
    const { vault, reads, status } = await vaultFor(t, secretText());
    assert.equal(await status(), 200);
    vault.current = new Error('down');
    for (const [later, expected] of [
      [300_000, 2],
      [9_999, 2],
      [1, 3],
    ] as const) {
      vault.now += later;
      assert.equal(await status(), 200);
      assert.equal(reads.current, expected);
    }
    vault.current = secretText();
    vault.now += 10_000;
    assert.equal(await status(), 200);
    vault.now += 299_999;
    assert.equal(await status(), 200);
    assert.equal(reads.current, 4);
  });

  test('may hold a token, which the upstream then gets', async (t) => {
    const { simulator, status, order } = await vaultFor(
      t,
      secretText(credentials, token.accessToken),
      {},
      token,
    );
    assert.equal(await status(), 200);
    assert.equal((await order()).status, 200);
    for (const { headers } of simulator.received) assert.equal(headers['x-access-token'], token.accessToken);
  });

  for (const text of [secretText(), secretText(credentials, ''), secretText(credentials, 'another')]) {
    test(`without the right token is our fault, and an order has no effect: ${text}`, async (t) => {
      const { gateway, simulator, order } = await vaultFor(t, text, {}, token);
      for (const reply of [await ask(gateway, accountsPath), await order()]) {
        const { status, code, error_code, detail } = problemOf(reply);
        assert.deepEqual(
          [status, code, error_code],
          [503, 'upstream_token_expired', 'UPSTREAM_TOKEN_EXPIRED'],
        );
        assert.match(String(detail), /had no effect.* countersign token/);
        assert.ok(!reply.text.includes('find_out'));
      }
      assert.equal(simulator.orders.length, 0);
    });
  }
});

describe('when the upstream refuses the token', () => {
  test('a read goes out again with the new one, at once', async (t) => {
    const { simulator, status, vault, reads } = await vaultFor(
      t,
      secretText(credentials, 'older'),
      {},
      token,
    );
    vault.current = secretText(credentials, 'older');
    assert.equal(await status(), 503);
    vault.now += 10_000;
    vault.current = secretText(credentials, token.accessToken);
    assert.equal(await status(), 200);
    assert.deepEqual(each(simulator.received.slice(-2), 'outcome'), ['INVALID_TOKEN', 'ok']);
    assert.equal(reads.current, 3);
  });

  test('an order is sent once, and the next one has the new token', async (t) => {
    const { simulator, order, vault } = await vaultFor(t, secretText(credentials, 'older'), {}, token);
    await order();
    vault.now += 10_000;
    vault.current = secretText(credentials, token.accessToken);
    assert.equal((await order()).status, 503);
    assert.equal(simulator.received.length, 2);
    assert.equal((await order()).status, 200);
    assert.equal(simulator.orders.length, 1);
  });
});

test('that there is no usable secret is remembered for a second', async (t) => {
  for (const useless of [undefined, 'not JSON']) {
    const { vault, reads, status } = await vaultFor(t, useless);
    for (let request = 0; request < 20; request++) assert.equal(await status(), 503);
    assert.equal(reads.current, 1);
    vault.current = secretText();
    vault.now += 1000;
    assert.equal(await status(), 200);
    assert.equal(reads.current, 2);
  }
});

describe('a secret that is', () => {
  const json = (value: unknown) => JSON.stringify(value);
  const unset = { status: 503, code: 'secret_not_set', error_code: 'SECRET_NOT_SET', retryAfter: '60' };
  const invalid = { status: 503, code: 'secret_invalid', error_code: 'SECRET_INVALID', retryAfter: '60' };
  const unavailable = {
    status: 503,
    code: 'secret_unavailable',
    error_code: 'SECRET_UNAVAILABLE',
    retryAfter: '5',
  };

  for (const [secret, expected] of [
    [undefined, unset],
    ['', unset],
    [' \n', unset],
    ['{}', unset],
    [json({ app_key: '', app_secret: '' }), unset],
    [json({ app_key: null, app_secret: null, access_token: 'x' }), unset],
    ['app_key=a&app_secret=b', invalid],
    ['{"app_key":"a","app_secret":"b"', invalid],
    ['null', invalid],
    ['[]', unset],
    ['"text"', invalid],
    ['1', invalid],
    [json({ app_key: 'a' }), invalid],
    [json({ app_secret: 'b' }), invalid],
    [json({ app_key: 'a', app_secret: '' }), invalid],
    [json({ app_key: '', app_secret: 'b' }), invalid],
    [json({ app_key: 1, app_secret: 'b' }), invalid],
    [json({ app_key: 'a', app_secret: ['b'] }), invalid],
    [json({ app_key: 'a key', app_secret: 'b' }), invalid],
    [json({ app_key: 'a\nkey', app_secret: 'b' }), invalid],
    [json({ app_key: 'schlüssel', app_secret: 'b' }), invalid],
    [json({ app_key: 'a', app_secret: '\ud800' }), invalid],
    [json({ app_key: 'a', app_secret: 'b', access_token: 1 }), invalid],
    [json({ app_key: 'a', app_secret: 'b', access_token: 'a\r\nx-other: 1' }), invalid],
    [new Error('down'), unavailable],
  ] as const) {
    test(`${secret instanceof Error ? 'out of reach' : JSON.stringify(secret)} is ${expected.code}`, async (t) => {
      const { gateway, simulator, order, vault, status, reports } = await vaultFor(t, secret);
      for (const reply of [await ask(gateway, accountsPath), await order()]) {
        const { status: ours, code, error_code } = problemOf(reply);
        const retryAfter = reply.headers['retry-after'];
        assert.deepEqual({ status: ours, code, error_code, retryAfter }, expected);
      }
      assert.deepEqual(each(reports, 'code', 'attempts'), [
        [expected.code, 0],
        [expected.code, 0],
      ]);
      assert.equal(simulator.received.length, 0);
      // Set right, it serves: at once, or when a stand-in's pause is over.
      vault.current = secretText();
      vault.now += 10_000;
      assert.equal(await status(), 200);
    });
  }

  test('unread because its source throws at once is out of reach, too', async (t) => {
    const read = (): never => {
      throw new Error('down');
    };
    const { gateway } = await coreFor(t, {}, { secrets: { read } });
    assert.equal(problemOf(await ask(gateway, accountsPath)).code, 'secret_unavailable');
  });
});

describe('after a rotation', () => {
  /** The upstream and the source have new credentials; the gateway still has the old. */
  async function rotate(t: TestContext) {
    const core = await vaultFor(t, secretText());
    assert.equal(await core.status(), 200);
    core.simulator.setCredentials([rotated]);
    core.vault.current = secretText(rotated);
    return core;
  }

  test('a read is signed anew with the new secret, and succeeds', async (t) => {
    const { simulator, reads, reports, status } = await rotate(t);
    assert.equal(await status(), 200);
    const [, refused, repeated] = simulator.received;
    assert.equal(refused?.outcome, 'UNAUTHORIZED');
    assert.equal(repeated?.outcome, 'ok');
    assert.equal(repeated?.headers['x-app-key'], rotated.appKey);
    assert.notEqual(repeated?.headers['x-signature-nonce'], refused?.headers['x-signature-nonce']);
    assert.equal(reads.current, 2);
    assert.equal(reports.at(-1)?.attempts, 2);
    assert.equal(await status(), 200);
    assert.equal(simulator.received.length, 4);
  });

  test('any number of refused reads cause one more look at the secret, and all succeed', async (t) => {
    const { gateway, simulator, reads } = await rotate(t);
    const replies = await Promise.all(Array.from({ length: 30 }, () => ask(gateway, accountsPath)));
    for (const reply of replies) assert.equal(reply.status, 200);
    assert.equal(reads.current, 2);
    assert.ok(simulator.received.length <= 1 + 2 * 30);
  });

  test('an order is refused and not sent again, but the next is placed', async (t) => {
    const { simulator, order, reads } = await rotate(t);
    problemOf(await order(), { status: 502, code: 'upstream_auth_failed' });
    assert.equal(simulator.received.length, 2);
    assert.equal(simulator.orders.length, 0);
    assert.equal(reads.current, 2);
    assert.equal((await order()).status, 200);
    assert.equal(simulator.received.length, 3);
    assert.equal(simulator.orders.length, 1);
  });

  test('an order whose refusal leaves it open is not sent again either, but the next is placed', async (t) => {
    const { simulator, order, reads } = await rotate(t);
    simulator.setCredentials([credentials, rotated]);
    const body = { error_code: 'INCORRECT_SIGN', message: 'no' };
    let times = 0;
    simulator.bring(() => (times++ === 0 ? { kind: 'status', status: 500, body } : undefined));
    problemOf(await order(), { status: 502, code: 'outcome_unknown' });
    assert.equal(simulator.received.length, 2);
    assert.equal(reads.current, 2);
    assert.equal((await order()).status, 200);
    assert.equal(simulator.received.at(-1)?.headers['x-app-key'], rotated.appKey);
  });

  test('a source that cannot be asked, or holds nothing usable, leaves the refusal', async (t) => {
    for (const secret of [new Error('down'), undefined, 'nonsense']) {
      const { gateway, vault, simulator } = await rotate(t);
      vault.current = secret;
      assert.equal(problemOf(await ask(gateway, accountsPath)).code, 'upstream_auth_failed');
      assert.equal(simulator.received.length, 2);
    }
  });
});

describe('refused without a new secret', () => {
  test('50 requests at once, and 50 more, cause one look at the secret until the pause is over', async (t) => {
    const { gateway, vault, reads, simulator, order } = await vaultFor(t, wrong);
    const storm = async () => {
      for (const reply of await Promise.all(Array.from({ length: 50 }, () => ask(gateway, accountsPath))))
        assert.equal(problemOf(reply).code, 'upstream_auth_failed');
    };
    await storm();
    assert.deepEqual(reads, { current: 2, previous: 1 });
    await storm();
    vault.now += 9_999;
    await storm();
    assert.equal(problemOf(await order()).code, 'upstream_auth_failed');
    assert.deepEqual(reads, { current: 2, previous: 1 });
    // Nor is any of them repeated at the upstream.
    assert.equal(simulator.received.length, 151);
    vault.now += 1;
    await storm();
    assert.deepEqual(reads, { current: 3, previous: 2 });
  });
});

describe('the previous version of the secret', () => {
  test('stands in for one that the upstream refuses: for reads, and found out once in a pause', async (t) => {
    const { vault, simulator, reads, status, order } = await vaultFor(t, wrong);
    vault.previous = secretText();
    assert.equal(await status(), 200);
    assert.equal(simulator.received.length, 2);
    for (let more = 0; more < 5; more++) assert.equal(await status(), 200);
    assert.equal(simulator.received.length, 7);
    assert.deepEqual(reads, { current: 2, previous: 1 });

    assert.equal(problemOf(await order()).code, 'upstream_auth_failed');
    assert.equal(simulator.received.length, 8);
    assert.equal(simulator.orders.length, 0);

    // The current one is given another chance when the pause is over.
    simulator.setCredentials([{ appKey: credentials.appKey, appSecret: 'not the secret' }]);
    vault.now += 10_000;
    assert.equal(await status(), 200);
    assert.equal(simulator.received.length, 9);
    assert.equal((await order()).status, 200);
  });

  test('is given up for the current one as soon as the upstream refuses it', async (t) => {
    const { vault, simulator, status } = await vaultFor(t, wrong);
    vault.previous = secretText();
    assert.equal(await status(), 200);
    simulator.setCredentials([{ appKey: credentials.appKey, appSecret: 'not the secret' }]);
    for (const received of [4, 5, 6]) {
      assert.equal(await status(), 200);
      assert.equal(simulator.received.length, received);
    }
  });

  test('is not tried twice for one read', async (t) => {
    const { vault, gateway, simulator, status } = await vaultFor(t, '{"app_key":');
    vault.previous = secretText();
    assert.equal(await status(), 200);
    simulator.setCredentials([]);
    assert.equal(problemOf(await ask(gateway, accountsPath)).code, 'upstream_auth_failed');
    assert.equal(simulator.received.length, 2);
  });

  test('stands in for one that is malformed: for reads', async (t) => {
    const { vault, simulator, status, order } = await vaultFor(t, '{"app_key":');
    vault.previous = secretText();
    assert.equal(await status(), 200);
    assert.equal(problemOf(await order()).code, 'secret_invalid');
    assert.equal(simulator.received.length, 1);
  });

  test('does not stand in for one that was emptied, nor for a source out of reach', async (t) => {
    for (const [secret, code] of [
      ['', 'secret_not_set'],
      [new Error('down'), 'secret_unavailable'],
    ] as const) {
      const { vault, gateway, simulator } = await vaultFor(t, secret);
      vault.previous = secretText();
      assert.equal(problemOf(await ask(gateway, accountsPath)).code, code);
      assert.equal(simulator.received.length, 0);
    }
  });

  test('that is refused, too, is not tried again until the pause is over', async (t) => {
    const { vault, gateway, simulator, reads } = await vaultFor(t, wrong);
    vault.previous = secretText({ ...credentials, appSecret: 'nor this' });
    for (const received of [2, 3, 4]) {
      assert.equal(problemOf(await ask(gateway, accountsPath)).code, 'upstream_auth_failed');
      assert.equal(simulator.received.length, received);
    }
    vault.now += 10_000;
    assert.equal(problemOf(await ask(gateway, accountsPath)).code, 'upstream_auth_failed');
    assert.equal(simulator.received.length, 6);
    assert.deepEqual(reads, { current: 3, previous: 2 });
  });

  for (const [name, previous] of [
    ['absent', undefined],
    ['the same', wrong],
    ['malformed', '{'],
    ['out of reach', new Error('down')],
  ] as const) {
    test(`that is ${name} changes nothing`, async (t) => {
      const { vault, gateway, simulator } = await vaultFor(t, wrong);
      vault.previous = previous;
      assert.equal(problemOf(await ask(gateway, accountsPath)).code, 'upstream_auth_failed');
      assert.equal(simulator.received.length, 1);
    });
  }
});
