/** Who the unit of fairness is: a key and a network prefix, and its members the addresses in it. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { missKey, readMiss } from '../../lib/cache/snapshots/store.ts';
import { callerOf, type NetworkPrefix } from '../../lib/gateway/index.ts';

const of = (address?: string, prefix?: NetworkPrefix, key = 'key') => callerOf({ key, address }, prefix);

/** Which of the addresses are of the same unit, or the same member, as the first. */
async function sameAs(
  what: 'unit' | 'member',
  addresses: readonly (string | undefined)[],
  prefix?: NetworkPrefix,
) {
  const callers = await Promise.all(addresses.map((one) => of(one, prefix)));
  return callers.map((one) => one[what] === callers[0]?.[what]);
}

test('addresses of one prefix are one unit, and each is a member of its own', async () => {
  const ipv4 = ['198.51.100.7', '198.51.100.200', '198.51.101.7'];
  assert.deepEqual(await sameAs('unit', ipv4), [true, true, false]);
  assert.deepEqual(await sameAs('member', ipv4), [true, false, false]);
  const ipv6 = ['2001:db8:1:ff::1', '2001:db8:1:00::ffff', '2001:db8:1:100::1', '2001:db8::1'];
  assert.deepEqual(await sameAs('unit', ipv6), [true, true, false, false]);
  assert.deepEqual(await sameAs('member', ipv6), [true, false, false, false]);
});

test('the prefix is as long as is configured, to the bit', async () => {
  const addresses = ['10.0.0.0', '10.0.15.255', '10.0.16.0', '10.255.0.0', '200.0.0.0'];
  for (const [ipv4, expected] of [
    [32, [true, false, false, false, false]],
    [20, [true, true, false, false, false]],
    [8, [true, true, true, true, false]],
    [0, [true, true, true, true, true]],
  ] as const)
    assert.deepEqual(await sameAs('unit', addresses, { ipv4, ipv6: 56 }), expected, String(ipv4));
  const groups = ['2001:db8:0:8000::', '2001:db8:0:ffff::', '2001:db8::'];
  assert.deepEqual(await sameAs('unit', groups, { ipv4: 24, ipv6: 49 }), [true, true, false]);
  assert.deepEqual(await sameAs('unit', groups, { ipv4: 24, ipv6: 64 }), [true, false, false]);
});

test('an address is the same in all its spellings', async () => {
  for (const spellings of [
    ['2001:db8::1', '2001:0DB8:0:0::0:1', '2001:db8:0:0:0:0:0:1', '2001:db8::1%eth0', '2001:db8::0.0.0.1'],
    ['192.0.2.33', '::ffff:192.0.2.33', '::FFFF:c000:221', '0:0:0:0:0:ffff:192.0.2.33'],
  ])
    assert.ok((await sameAs('member', spellings)).every(Boolean), spellings.join());
});

test('what is no address has no prefix: the key alone is the unit', async () => {
  const { unit } = await of();
  for (const address of [
    '',
    'unknown',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '1.2.3.-4',
    '1.2.3.0x4',
    '1.2.3.4:80',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1::2::3',
    '1:2:3:4::5:6:7:8',
    '12345::',
    ':1::',
    '1.2.3.4::',
    '::g',
    '999999999999',
  ])
    assert.deepEqual(await of(address), { unit }, address);
});

test('each key has its own units and members', async () => {
  const [one, other] = await Promise.all([of('192.0.2.1'), of('192.0.2.1', undefined, 'other')]);
  assert.notEqual(one.unit, other.unit);
  assert.notEqual(one.member, other.member);
});

test('names are 128 bits that a store’s keys can hold, and show neither key nor address', async () => {
  for (const address of ['192.0.2.1', '2001:db8::1', undefined])
    for (const name of Object.values(await of(address))) assert.match(name, /^[\w-]{22}$/);
  const { unit } = await of('192.0.2.1');
  for (const more of [{}, { isEventDriven: true } as const]) {
    const miss = { caller: unit, view: 'US_STOCK', symbol: 'A/B', ...more };
    assert.deepEqual(readMiss(missKey(miss)), miss);
  }
  const names = new Set<string>();
  for (let at = 0; at < 512; at++) names.add((await of(`10.${at >> 8}.${at & 255}.1`)).unit);
  assert.equal(names.size, 512);
});
