/** How many streams a caller may have, over the store in memory; `stores-dynamo.test.ts` has it on the engine. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { callerOf } from '../../lib/identity/caller.ts';
import {
  createMemoryStreamStore,
  createStreamShares,
  type StreamStore,
  whenOver,
} from '../../lib/live/stream-shares.ts';
import { createRandom } from '../world/random.ts';
import { VirtualTime } from '../world/virtual-time.ts';
import { requestOf, streamStoreContract } from './stream-store.contract.ts';

streamStoreContract('in memory', createMemoryStreamStore);

test('a store that fails keeps nobody out', async () => {
  const away = () => Promise.reject(new Error('away'));
  const shares = createStreamShares({ read: away, write: away }, { max: 1, clock: Date.now });
  const [one, another] = [await shares.take(requestOf(), 1), await shares.take(requestOf(), 1)];
  assert.ok(one && another);
  await one();
});

test('a client with a whole /48 has the streams of two callers, and others have theirs', async () => {
  const time = new VirtualTime();
  const store = createMemoryStreamStore();
  const shares = createStreamShares(store, { max: 3, clock: time.now });
  const until = time.now() + 60_000;
  const take = async (address: string) => {
    const caller = await callerOf({ key: 'app', address });
    return shares.take({ ...requestOf(), caller }, until);
  };
  const taken = [];
  for (let net = 0; net < 256; net++) taken.push(await take(`2001:db8:1:${net.toString(16)}00::1`));
  const held = taken.flatMap((free) => free ?? []);
  assert.equal(held.length, 6);
  assert.ok((await take('2001:db8:2::1')) && (await take('192.0.2.1')));
  await held[0]?.();
  assert.ok(await take('2001:db8:1:7700::1'));
  assert.equal(await take('2001:db8:1:7700::1'), undefined);
});

test('all streams of a caller begin at once, end at once, and leave room for as many', async () => {
  const time = new VirtualTime();
  const random = createRandom(1);
  const memory = createMemoryStreamStore();
  const latency = () => time.sleep(5 + 3 * random());
  const store: StreamStore = {
    read: (caller) => latency().then(() => memory.read(caller)),
    write: (caller, next) => latency().then(() => memory.write(caller, next)),
  };
  const max = 30;
  const shares = createStreamShares(store, { max, clock: time.now, sleep: time.sleep, random });
  const until = time.now() + 900_000;
  for (let round = 0; round < 20; round++) {
    const taking = Promise.all(Array.from({ length: max }, () => shares.take(requestOf(), until)));
    await time.runUntil(time.now() + 4000);
    const taken = (await taking).flatMap((free) => free ?? []);
    assert.equal(taken.length, max, `round ${round}`);
    assert.equal((await memory.read('caller')).until.size, max);
    const freeing = Promise.all(taken.map((free) => free()));
    await time.runUntil(time.now() + 4000);
    await freeing;
    assert.equal((await memory.read('caller')).until.size, 0, `round ${round}`);
  }
});

test('a stream that is left has ended once its room is free', async () => {
  const time = new VirtualTime();
  async function* texts() {
    yield 'a';
    yield 'b';
  }
  let isFree = false;
  const free = async () => {
    await time.sleep(100);
    isFree = true;
  };
  const read = async () => {
    for await (const _ of whenOver(texts(), free)) break;
    return isFree;
  };
  const reading = read();
  // Time must not pass before the reader waits for it.
  await new Promise(setImmediate);
  await time.runUntil(time.now() + 1000);
  assert.equal(await reading, true);
});
