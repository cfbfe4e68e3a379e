/** The journal in memory keeps the contract. */

import { createMemoryOrderJournal } from '../../lib/orders/index.ts';
import { orderJournalContract } from './journal.contract.ts';

orderJournalContract('in memory', createMemoryOrderJournal);
