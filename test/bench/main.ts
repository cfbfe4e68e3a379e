/**
 * `npm run bench`: each comparison within one run, because figures of two runs say nothing of each other.
 * Arguments narrow the run, each a part of a name:
 *
 *     npm run bench -- start-up
 */

import { benches } from './benches.ts';

const filters = process.argv.slice(2);
for (const [name, { run, full }] of Object.entries(benches)) {
  if (filters.length > 0 && !filters.some((part) => name.includes(part))) continue;
  await run(full);
  console.log('');
}
