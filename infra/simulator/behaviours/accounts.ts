/** Accounts. */

import { answer, type Behaviours } from './behaviour.ts';

export const accounts: Behaviours = {
  listAccounts: (_call, world) => answer(world.accounts),
};
