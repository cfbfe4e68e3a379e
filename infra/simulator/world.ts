/** What the simulated upstream knows: accounts, instruments, prices and orders. */

import { OrderBook } from './order-book.ts';
import { Prices } from './prices.ts';
import { createUniverse, type Universe } from './universe.ts';

export interface Account {
  readonly account_id: string;
  readonly account_type: 'MARGIN' | 'CASH';
  readonly user_id: string;
  readonly account_number: string;
  readonly account_label: string;
  readonly account_class: string;
}

/** Invented, and the same for every seed, so that an account id can be written into a test or a note. */
const accounts: readonly Account[] = [
  {
    account_id: 'SIMM4RG1N7KX2V9QHT6W0ZC3YB',
    account_type: 'MARGIN',
    user_id: '7700310001',
    account_number: 'SIM70031',
    account_label: 'Individual Margin',
    account_class: 'INDIVIDUAL_MARGIN',
  },
  {
    account_id: 'SIMC4SH0P8DN5J1RFE9GM6TA2U',
    account_type: 'CASH',
    user_id: '7700310001',
    account_number: 'SIM70032',
    account_label: 'Individual Cash',
    account_class: 'INDIVIDUAL_CASH',
  },
];

export interface World {
  readonly accounts: readonly Account[];
  readonly universe: Universe;
  readonly prices: Prices;
  readonly orders: OrderBook;
}

export function createWorld(seed: number): World {
  return { accounts, universe: createUniverse(seed), prices: new Prices(), orders: new OrderBook(seed) };
}
