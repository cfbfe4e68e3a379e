/** As contention.test.ts: so many orders that some are told that the journal was away. */

import { test } from 'vitest';
import { placeByChance, useTimeAndChance } from './contention.ts';

const time = useTimeAndChance();

test('60 orders a second from 20 instances: each begins or is told that the journal was away', () =>
  placeByChance(time, 20, 60, true));
