/** One user floods cancels, placements, look-ups or replacements; another works as always. The exhaustive tests have all loads. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { cancelOrder, operations } from '../../../lib/catalogue/index.ts';
import {
  createLimiter,
  createMemoryLimiterStore,
  type GatewayOptions,
  limiterLimits,
} from '../../../lib/gateway/index.ts';
import { bearer, claimsOf, createTestAccess, grantsOf, user } from '../../support/access.ts';
import { accountId, coreFor, orderPath, requestOf, snapshotTarget } from '../../support/core.ts';
import { cancelBody, holdShares, loads, lookUp, placed, upstreamLimits } from '../order-loads.ts';

for (const kind of Object.keys(loads))
  test(`10 ${kind} a second of one user cost another no answer`, (t) => holdShares(t, kind, 10, 70));

test('a request for one user names the user to the limiter; a quote does not, nor does anything with a single user', async (t) => {
  const people = createTestAccess();
  await people.grant(user('anna'), grantsOf({ [accountId]: ['read', 'trade'] }));
  const headers = bearer(people.token(claimsOf('anna')));
  const usersOf = async (access: NonNullable<GatewayOptions['access']>) => {
    const users: (string | undefined)[] = [];
    const limiter = createLimiter({
      store: createMemoryLimiterStore(),
      limits: limiterLimits({}, 1, { upstreamLimits, operations }),
      bucket: 'test',
    });
    const { gateway } = await coreFor(t, undefined, {
      access,
      upstreamLimits,
      limiter: {
        ...limiter,
        async acquire(call) {
          users.push(call.user);
          return limiter.acquire(call);
        },
      },
    });
    for (const [target, body] of [
      [cancelOrder.path, cancelBody('an-order-one')],
      [orderPath, placed('an-order-two')],
      [lookUp('an-order-two')],
      [snapshotTarget],
    ] as const)
      await gateway.handle(requestOf(target, { headers, ...(body !== undefined && { body }) }));
    return users;
  };
  const anna = await people.nameOf('user', JSON.stringify(user('anna')));
  assert.deepEqual(await usersOf(people.access), [anna, anna, anna, undefined]);
  assert.deepEqual(await usersOf('single-user'), [undefined, undefined, undefined, undefined]);
});
