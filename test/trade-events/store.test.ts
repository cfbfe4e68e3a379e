/** The store of trade events in memory keeps the contract, as the one over DynamoDB does. */

import { createMemoryTradeEventStore } from '../../lib/trade-events/index.ts';
import { tradeEventStoreContract } from './store.contract.ts';

const memory = createMemoryTradeEventStore();
tradeEventStoreContract('in memory', () => memory);
