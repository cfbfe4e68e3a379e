/**
 * `npm run deploy -- [stage]` and `npm run destroy -- [stage]`, and what is checked before the CDK begins: what AWS cannot
 * give would roll all of the deployment back.
 */

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { ConfigError, type CountersignConfig } from '../stack/config.ts';
import { resolveConfig } from '../stack/resolve-config.ts';
import { certificateRegionFault } from '../stack/resolve-domain.ts';
import { configOf, exampleBaseUrl, stackNameOf, stageOf } from '../stack/stages.ts';
import { readInstances } from './account.ts';
import { reservationFault, reservedBy } from './preflight-bounds.ts';

/**
 * What follows the stage goes to the CDK: a pipeline, without an operator, adds `--require-approval never` or `--force`.
 *
 * @throws ConfigError for what must not reach the CDK
 */
export async function runCdk(verb: 'deploy' | 'destroy', args: readonly string[]): Promise<void> {
  const named = args[0] !== undefined && !args[0].startsWith('-');
  const stage = stageOf(named ? args[0] : undefined);
  const options = args.slice(named ? 1 : 0);
  if (verb === 'deploy' && configOf(stage).upstream.baseUrl === exampleBaseUrl)
    throw new ConfigError(
      `The stage ${stage} still has the example's base URL: put that of your upstream into infra/stack/stages.ts.`,
    );
  const fault = verb === 'deploy' ? await deploymentFault(configOf(stage), options) : undefined;
  if (fault) throw new ConfigError(fault);
  const cdk = createRequire(import.meta.url).resolve('aws-cdk/bin/cdk');
  const child = spawn(process.execPath, [cdk, verb, stackNameOf(stage), '-c', `stage=${stage}`, ...options], {
    stdio: 'inherit',
  });
  child.once('close', (code) => {
    process.exitCode = code ?? 1;
  });
}

/**
 * Compares the certificate's Region with `AWS_REGION`, and asks AWS one question, only where the stage reserves
 * instances. What cannot be read within a few seconds, and an account that only the CDK knows (`--profile`), hold up no
 * deployment.
 *
 * @param options what is passed on to the CDK
 * @returns one sentence, when the deployment would certainly fail
 * @throws ConfigError for a configuration that cannot be deployed anywhere
 * @example await deploymentFault({ upstream, groups: { orders: 'iam' } }, [])  // 'The stage reserves 10 …', in a new account
 */
export async function deploymentFault(
  given: CountersignConfig,
  options: readonly string[],
): Promise<string | undefined> {
  const config = resolveConfig(given);
  if (options.some((option) => option.startsWith('--profile'))) return undefined;
  const elsewhere = certificateRegionFault(config.domain, process.env.AWS_REGION);
  if (elsewhere || reservedBy(config) === 0) return elsewhere;
  const instances = await readInstances();
  return instances === undefined ? undefined : reservationFault(config, instances);
}
