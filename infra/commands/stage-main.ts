/**
 * The commands behind `npm run deploy -- [stage]` and `npm run destroy -- [stage]`. What follows goes to the
 * CDK: a pipeline, without an operator, adds `--require-approval never` or `--force`.
 */

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { ConfigError } from '../stack/config.ts';
import { configOf, exampleBaseUrl, stackNameOf, stageOf } from '../stack/stages.ts';
import { deploymentFault } from './deploy-check.ts';
import { main } from './main.ts';

await main(
  async ([verb, ...given]) => {
    if (verb !== 'deploy' && verb !== 'destroy')
      throw new ConfigError('Usage: npm run deploy -- [stage], or npm run destroy -- [stage]');
    const named = given[0] !== undefined && !given[0].startsWith('-');
    const stage = stageOf(named ? given[0] : undefined);
    const options = given.slice(named ? 1 : 0);
    if (verb === 'deploy' && configOf(stage).upstream.baseUrl === exampleBaseUrl)
      throw new ConfigError(
        `The stage ${stage} still has the example's base URL: put that of your upstream into infra/stack/stages.ts.`,
      );
    const fault = verb === 'deploy' ? await deploymentFault(configOf(stage), options) : undefined;
    if (fault) throw new ConfigError(fault);
    const cdk = createRequire(import.meta.url).resolve('aws-cdk/bin/cdk');
    const child = spawn(
      process.execPath,
      [cdk, verb, stackNameOf(stage), '-c', `stage=${stage}`, ...options],
      {
        stdio: 'inherit',
      },
    );
    child.once('close', (code) => {
      process.exitCode = code ?? 1;
    });
  },
  { also: ConfigError },
);
