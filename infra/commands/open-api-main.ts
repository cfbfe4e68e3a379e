/** The command behind `npm run openapi`. */

import { writeFileSync } from 'node:fs';
import { main } from './main.ts';
import { openApiArguments, openApiText } from './open-api.ts';

await main((args) => {
  const { out, ...options } = openApiArguments(args);
  const text = openApiText(options);
  if (out === undefined) process.stdout.write(text);
  else writeFileSync(out, text);
});
