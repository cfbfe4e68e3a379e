/** The journal in memory keeps the contract. */

import { createMemoryOrderJournal } from '../../lib/orders/index.ts';
import { countingJournalContract } from './counting-journal.contract.ts';
import { orderJournalContract } from './journal.contract.ts';

orderJournalContract('in memory', createMemoryOrderJournal);
countingJournalContract('in memory', createMemoryOrderJournal);
