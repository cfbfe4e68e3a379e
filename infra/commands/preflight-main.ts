/** The command behind `npm run preflight -- [stage]`: 0 it carries the load, 1 it does not, 2 that is unknown. */

import { ConfigError } from '../stack/config.ts';
import { resolveConfig } from '../stack/resolve-config.ts';
import { configOf, stackNameOf } from '../stack/stages.ts';
import { readAccount } from './account.ts';
import { main } from './main.ts';
import { preflightArguments, verdictOf } from './preflight.ts';

await main(
  async (args) => {
    const { stage, wish } = preflightArguments(args);
    const config = resolveConfig(configOf(stage));
    const account = await readAccount(stackNameOf(stage), config.domain?.certificateArn);
    const { carries, words } = verdictOf(stage, config, account, wish);
    console.log(words);
    process.exitCode = carries === undefined ? 2 : carries ? 0 : 1;
  },
  { code: 2, also: ConfigError },
);
