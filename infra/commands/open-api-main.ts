/** The command behind `npm run openapi`. */

import { writeFileSync } from 'node:fs';
import { StartError } from '../environment.ts';
import { openApiArguments, openApiText } from './open-api.ts';

try {
  const { out, ...options } = openApiArguments(process.argv.slice(2));
  const text = openApiText(options);
  if (out === undefined) process.stdout.write(text);
  else writeFileSync(out, text);
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
