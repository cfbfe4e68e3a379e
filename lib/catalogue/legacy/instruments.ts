/** The older form of the list of option contracts: a bare array, paged by the last contract seen. */

import { listOptionContracts } from '../instruments.ts';
import { list, optional } from '../parameters.ts';
import { flagInAnyCase, lastSeen, listOf, olderForm, pageSize } from './form.ts';

export const legacyListOptionContracts = olderForm(listOptionContracts, {
  id: 'legacyListOptionContracts',
  path: '/openapi/instrument/option/contracts',
  required: ['category'],
  optional: [
    'underlying_symbols',
    'root_symbol',
    'status',
    'start_date',
    'end_date',
    'option_type',
    'style',
    'strike_price_gte',
    'strike_price_lte',
  ],
  own: {
    option_symbol: optional(list({ description: 'OCC-style option symbol, or several.' })),
    ppind: flagInAnyCase({ description: 'Penny program only, or not.' }),
    show_deliverables: flagInAnyCase({ description: 'Add the deliverables array; off when absent.' }),
    page_size: pageSize(),
    last_instrument_id: lastSeen('instrument_id of the last contract of the page before.'),
  },
  response: listOf(listOptionContracts, 'data'),
  paging: { parameter: 'last_instrument_id', next: { ofLastItem: 'instrument_id' } },
  example: { page_size: '100' },
});
