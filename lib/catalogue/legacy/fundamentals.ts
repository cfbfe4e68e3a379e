/** The older form of fund dividends: a bare array, paged by page_index, from 1. */

import { getFundDividends } from '../fundamentals/funds.ts';
import { listOf, olderForm, pagesByIndex } from './form.ts';

export const legacyGetFundDividends = olderForm(getFundDividends, {
  id: 'legacyGetFundDividends',
  path: '/openapi/fundamentals/fund/dividends',
  required: ['symbol', 'category'],
  own: pagesByIndex(),
  response: listOf(getFundDividends, 'data'),
  example: { page_index: '1', page_size: '20' },
});
