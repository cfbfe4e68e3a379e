/** Which operations have answers that all clients share; what belongs to one account never has. */

import type { Operation } from '../catalogue/operation.ts';
import { freshnessOf } from './answers/freshness-table.ts';

/** Served symbol by symbol from quotes that are kept together. */
export const sharesQuotes = ({ id }: Pick<Operation, 'id'>): boolean => id === 'getStockSnapshots';

/** Whether an answer, whole or symbol by symbol, may serve more than the one who asked for it. */
export const sharesAnswers = (operation: Pick<Operation, 'id'>): boolean =>
  sharesQuotes(operation) || Object.hasOwn(freshnessOf, operation.id);
