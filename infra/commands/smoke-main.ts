/** The command behind `npm run smoke`. */

import { StartError } from '../environment.ts';
import { smoke, smokeArguments } from './smoke.ts';

try {
  const { healthy, words } = await smoke(...smokeArguments(process.argv.slice(2), process.env));
  (healthy ? console.log : console.error)(words);
  process.exitCode = healthy ? 0 : 1;
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
