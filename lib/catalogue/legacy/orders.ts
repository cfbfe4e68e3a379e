/** Older forms of the lists of orders: bare arrays, paged by the last order seen. */

import { seen } from '../notes.ts';
import { listOpenOrders, listOrderHistory } from '../order-reads.ts';
import { lastSeen, listOf, olderForm, pageSize, timeInAnyForm } from './form.ts';

const byLastOrder = {
  parameter: 'last_client_order_id',
  next: { ofLastItem: 'client_order_id' },
} as const;

export const legacyListOpenOrders = olderForm(listOpenOrders, {
  id: 'legacyListOpenOrders',
  path: '/openapi/trade/order/open',
  required: ['account_id'],
  own: {
    page_size: pageSize(10, 100, 'Records per page; other sizes were seen refused live.'),
    last_client_order_id: lastSeen('client_order_id of the last group of the page before.'),
    last_order_id: lastSeen('order_id of the last order of the page before.'),
  },
  response: listOf(listOpenOrders, 'data'),
  paging: byLastOrder,
  example: { page_size: '10' },
  notes: [seen('A page has 10 to 100 groups; another page_size was seen refused.')],
});

export const legacyListOrderHistory = olderForm(listOrderHistory, {
  id: 'legacyListOrderHistory',
  path: '/openapi/trade/order/history',
  required: ['account_id'],
  own: {
    page_size: pageSize(),
    start_date: timeInAnyForm({ description: 'Start of the period, as some clients call it.' }),
    end_date: timeInAnyForm({ description: 'End of the period, as some clients call it.' }),
    start_time: timeInAnyForm({ description: 'Start of the period.' }),
    end_time: timeInAnyForm({ description: 'End of the period.' }),
    last_client_order_id: lastSeen('client_order_id of the last group of the page before.'),
    last_order_id: lastSeen('order_id of the last order of the page before.'),
  },
  response: listOf(listOrderHistory, 'data'),
  paging: byLastOrder,
  example: { page_size: '10' },
  notes: [seen('Some clients send start_date and end_date, others start_time and end_time.')],
});
