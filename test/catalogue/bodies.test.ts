/** `null` for a member of a body that may be left out: taken, and sent as it came. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { type Operation, operations } from '../../lib/catalogue/index.ts';
import { bodyFaults } from '../../lib/catalogue/validation.ts';
import { createClient, viaGateway } from '../../lib/client/index.ts';
import { validate } from '../../lib/gateway/validate.ts';
import { isRefusal } from '../../lib/problem.ts';
import { each } from '../support/each.ts';
import { membersOf, withNull } from '../support/members.ts';

const faultsIn = ({ body }: Operation, value: unknown) =>
  bodyFaults(body!, { text: JSON.stringify(value), value });

const withBodies = operations.filter(({ body }) => body);

for (const operation of withBodies)
  describe(operation.id, () => {
    const example = operation.example.body;
    const members = [...membersOf(operation.body!, example)];
    const optional = members.filter(({ mayBeLeftOut }) => mayBeLeftOut);

    test('null passes for each member that may be left out, for all of them and for any of them', () => {
      for (const member of optional)
        assert.deepEqual(faultsIn(operation, withNull(example, [member])), [], member.at.join('/'));
      assert.deepEqual(faultsIn(operation, withNull(example, optional)), []);
      fc.assert(
        fc.property(fc.subarray(optional), (some) => {
          assert.deepEqual(faultsIn(operation, withNull(example, some)), []);
        }),
      );
    });

    test('null for a required member is refused, and named', () => {
      for (const member of members.filter(({ mayBeLeftOut }) => !mayBeLeftOut)) {
        const faults = faultsIn(operation, withNull(example, [member]));
        assert.deepEqual(each(faults, 'name', 'received'), [[`/${member.at.join('/')}`, 'null']]);
      }
    });

    test('gateway and client send the null that came', async () => {
      const text = JSON.stringify(withNull(example, optional));
      const body = new TextEncoder().encode(text);
      const checked = validate(operation, {
        method: 'POST',
        path: '',
        query: [],
        headers: { 'content-type': 'application/json' },
        requestId: '1',
        body,
      });
      assert.ok(!isRefusal(checked), JSON.stringify(checked));
      assert.equal(checked.body, text);
      const sent: unknown[] = [];
      const fetch: typeof globalThis.fetch = async (_url, init) => {
        sent.push(init?.body);
        return new Response(JSON.stringify(done));
      };
      const client = createClient({ operation }, viaGateway({ baseUrl: 'https://example.com', fetch }));
      await client.operation(JSON.parse(text) as never);
      assert.deepEqual(sent, [text]);
    });
  });

/** Says of each operation what became of it. */
const done = { order_id: '1', token: '1', success: true, batch_orders: [{ order_id: '1' }] };

test('bodies have members that may be left out, also deep in them', () => {
  const depths = withBodies.flatMap(({ body, example }) =>
    [...membersOf(body!, example.body)].filter(({ mayBeLeftOut }) => mayBeLeftOut).map(({ at }) => at.length),
  );
  assert.ok(depths.length > 50, `${depths.length}`);
  assert.deepEqual([...new Set(depths)].sort(), [1, 3, 5]);
});
