/** The command behind `npm run limits -- [stage] [reset]`. */

import { limitsCommand } from './limits.ts';
import { main } from './main.ts';

await main(async (args) => console.log(await limitsCommand(args)));
