/** The store of mass cancels in memory keeps the contract of all of them. */

import { createMemoryControls } from '../../lib/guard-rails/index.ts';
import { massCancelStoreContract } from './mass-cancels.contract.ts';

massCancelStoreContract('in memory', () => {
  const controls = createMemoryControls();
  return { controls, massCancels: controls.massCancels };
});
