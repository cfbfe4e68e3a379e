/** The command behind `npm run events`, which is a part of `npm run build`: writes the events' schemas. */

import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeEventSchemas } from '../events/files.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
for (const path of writeEventSchemas(`${root}dist/events`))
  console.log(`${relative(root, path)} is written.`);
