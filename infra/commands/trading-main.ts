/** The command behind `npm run trading -- <command> [stage] …`. */

import { main } from './main.ts';
import { deployedTrading, manageTrading } from './trading.ts';
import { tradingArguments, usage } from './trading-arguments.ts';

await main(async (args) => {
  const given = tradingArguments(args);
  if (given) await manageTrading(given, await deployedTrading(given));
  else console.log(usage);
});
