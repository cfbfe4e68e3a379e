/** The older form of option bars: a bare array. */

import { listOptionBars } from '../market-data/options.ts';
import { flagInAnyCase, listOf, olderForm } from './form.ts';

export const legacyListOptionBars = olderForm(listOptionBars, {
  id: 'legacyListOptionBars',
  path: '/openapi/market-data/option/bars',
  required: ['symbols', 'category', 'timespan'],
  optional: ['count', 'start_time', 'end_time'],
  own: {
    real_time_required: flagInAnyCase({ description: 'Include the newest data; off when absent.' }),
  },
  response: listOf(listOptionBars, 'result'),
});
