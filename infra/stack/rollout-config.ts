/** How a new version of the functions behind the API may take over. */

import { oneOf } from './schema-parts.ts';

export const rolloutSchema = oneOf('all-at-once', 'canary', 'linear');

export type Rollout = 'all-at-once' | 'canary' | 'linear';
