/** The command behind `npm run users -- [stage] <command> …`. */

import { main } from './main.ts';
import { deployedUsers, manageUsers } from './users.ts';
import { usage, usersArguments } from './users-arguments.ts';

await main(async (args) => {
  const given = usersArguments(args);
  if (given) await manageUsers(given, await deployedUsers(given));
  else console.log(usage);
});
