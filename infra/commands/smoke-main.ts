/** The command behind `npm run smoke`. */

import { main } from './main.ts';
import { smoke, smokeArguments } from './smoke.ts';

await main(
  async (args) => {
    const { healthy, words } = await smoke(...smokeArguments(args, process.env));
    (healthy ? console.log : console.error)(words);
    process.exitCode = healthy ? 0 : 1;
  },
  { code: 2 },
);
