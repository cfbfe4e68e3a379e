/** What every history of trade events must do. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import {
  everyName,
  type PlacedEvent,
  placeAt,
  type TradeEventHistory,
} from '../../lib/trade-events/history.ts';

let names = 0;
const now = Date.now();

/** In the form of a keyed name. */
const nextName = () => `contract_-${++names}`.padEnd(22, 'x');

export const placed = (at: number, id: string): PlacedEvent => ({
  place: placeAt(now + at, id),
  detailType: 'OrderChanged',
  detail: `{"event_id":"${id}","account_id":"1234567","order":{"qty":1.10,\r\n "name":"⚖"}}`,
});

export function eventHistoryContract(name: string, create: () => TradeEventHistory): void {
  test(`${name}: events come in the order of their places, under each of their names, as they were written`, async () => {
    const history = create();
    const [one, other] = [nextName(), nextName()];
    const [first, second, third] = [placed(1, 'b'), placed(2, 'a'), placed(2, 'c')];
    for (const [event, of] of [
      [third, [one]],
      [first, [one, other]],
      [second, [one, other]],
    ] as const)
      await history.append(of, event);
    assert.deepEqual(await history.after(one, placeAt(0), 10), [first, second, third]);
    assert.deepEqual(await history.after(other, placeAt(0), 10), [first, second]);
    assert.deepEqual(await history.after(nextName(), placeAt(0), 10), []);
  });

  test(`${name}: what stands at the place itself is left out, and no more come than are wanted`, async () => {
    const history = create();
    const own = nextName();
    const events = Array.from({ length: 7 }, (_, index) => placed(index, `e${index}`));
    for (const event of events) await history.append([own], event);
    assert.deepEqual(await history.after(own, events[1]?.place ?? '', 3), events.slice(2, 5));
    assert.deepEqual(await history.after(own, placeAt(now + 2), 10), events.slice(2));
    assert.deepEqual(await history.after(own, events[6]?.place ?? '', 3), []);
  });

  test(`${name}: the last place of a name is there at once`, async () => {
    const history = create();
    const own = nextName();
    assert.equal(await history.last(own), undefined);
    for (const event of [placed(5, 'later'), placed(1, 'earlier')]) await history.append([own], event);
    assert.equal(await history.last(own), placeAt(now + 5, 'later'));
  });

  test(`${name}: an event that is written again at its place is there once`, async () => {
    const history = create();
    const own = nextName();
    for (let times = 0; times < 2; times++) await history.append([own, everyName], placed(3, 'again'));
    assert.equal((await history.after(own, placeAt(0), 10)).length, 1);
  });
}
