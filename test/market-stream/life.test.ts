/** What a session claims to have told, by clocks of whole milliseconds. */

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'vitest';
import { SessionLife } from '../../lib/market-stream/life.ts';

test('values claim no moment after they were sent, where they take as long as the trip of a ping', () => {
  const upTo = (max: number) => fc.integer({ min: 0, max: 1000 * max - 1 }).map((part) => part / 1000);
  fc.assert(
    fc.property(upTo(1), upTo(1), upTo(5), (askedPart, sentPart, tripMs) => {
      const life = new SessionLife();
      life.begin(0);
      // Until the trip that was assumed at first no longer counts.
      for (let at = 1000; at <= 100_000; at += 1000)
        life.sign(Math.floor(at + askedPart + tripMs), Math.floor(at + askedPart));
      const sentAt = 200_000 + sentPart;
      life.values(Math.floor(sentAt + tripMs));
      assert.ok(life.signAt <= sentAt, `sent ${sentAt}, claimed ${life.signAt}`);
    }),
  );
});
