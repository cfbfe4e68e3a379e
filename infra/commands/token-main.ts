/** The command behind `npm run token -- [stage]`. */

import { main } from './main.ts';
import { stackNameFrom } from './secret-set.ts';
import { deployedPorts, renewToken, usage } from './token.ts';

await main(async (args) => renewToken(await deployedPorts(stackNameFrom(args, usage))));
