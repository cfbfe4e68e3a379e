/** Every behaviour by operation id, and what happens when an operation has none. */

import { refuse } from '../refusal.ts';
import { accounts } from './accounts.ts';
import type { Behaviour, Behaviours } from './behaviour.ts';
import { market } from './market.ts';
import { orders } from './orders.ts';

const behaviours: Behaviours = { ...accounts, ...market, ...orders };

export function behaviourOf(operationId: string): Behaviour {
  return Object.hasOwn(behaviours, operationId) ? behaviours[operationId]! : unwritten;
}

const unwritten: Behaviour = ({ operation }) =>
  refuse(501, 'NOT_IMPLEMENTED', `The simulator does not play ${operation.id}`);
