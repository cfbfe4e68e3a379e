/** The command behind `npm run secret:set -- [stage]`. */

import { text } from 'node:stream/consumers';
import { StartError } from '../environment.ts';
import { stackNameOf } from '../stack/stages.ts';
import { setSecret, usableSecret } from './secret-set.ts';

try {
  const [stage = 'dev', ...rest] = process.argv.slice(2);
  if (rest.length > 0 || process.stdin.isTTY)
    throw new StartError('Usage: npm run secret:set -- [stage] < secret.json');
  const stackName = stackNameOf(stage);
  await setSecret(stackName, await usableSecret(await text(process.stdin)));
  console.log(`The secret of ${stackName} is set; functions use it within five minutes.`);
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
