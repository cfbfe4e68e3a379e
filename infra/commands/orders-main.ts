/** The command behind `npm run orders -- audit [stage] …`. */

import { main } from './main.ts';
import { deployedOrders, showOrders } from './orders.ts';
import { ordersArguments, usage } from './orders-arguments.ts';

await main(async (args) => {
  const given = ordersArguments(args);
  if (given) await showOrders(given, await deployedOrders(given));
  else console.log(usage);
});
