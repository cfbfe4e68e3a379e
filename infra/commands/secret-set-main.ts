/** The command behind `npm run secret:set -- [stage]`. */

import { text } from 'node:stream/consumers';
import { StartError } from '../environment.ts';
import { main } from './main.ts';
import { setSecret, stackNameFrom, usableSecret, usage } from './secret-set.ts';

await main(async (args) => {
  const stackName = stackNameFrom(args);
  if (process.stdin.isTTY) throw new StartError(usage);
  const ofToken = await setSecret(stackName, await usableSecret(await text(process.stdin)));
  console.log(
    `The secret of ${stackName} is set; functions use it within five minutes. ${ofToken}`.trimEnd(),
  );
});
