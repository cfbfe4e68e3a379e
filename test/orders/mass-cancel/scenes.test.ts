/** What one run of the mass cancel does with what it finds. */

import { test } from 'vitest';
import { createMassCancels } from '../../../lib/orders/index.ts';
import { scenes } from './scenes.ts';

for (const [name, scene] of Object.entries(scenes)) test(name, () => scene({ createMassCancels }));
