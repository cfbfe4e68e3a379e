/**
 * What `countersign deploy`, `diff` and `destroy` hand over to the CDK, and what is checked before it begins: what AWS
 * cannot give would roll all of the deployment back.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { StartError } from '../environment.ts';
import { ConfigError, type CountersignConfig } from '../stack/config.ts';
import { resolveConfig } from '../stack/resolve-config.ts';
import { certificateRegionFault } from '../stack/resolve-domain.ts';
import { configOf, exampleBaseUrl, stackNameOf, stagesPlace } from '../stack/stages.ts';
import { readInstances } from './account.ts';
import { awsAccess, awsJson } from './aws.ts';
import { reservationFault, reservedBy } from './preflight-bounds.ts';

/** With these the CDK alone knows the account. */
const isElsewhere = (options: readonly string[]) => options.some((option) => option.startsWith('--profile'));

/**
 * @param options go to the CDK: a pipeline, without an operator, adds `--require-approval never` or `--force`
 * @returns the CDK's exit code, or 1 where it was ended
 * @throws ConfigError for what must not reach the CDK, StartError where it cannot begin
 */
export async function runCdk(
  verb: 'deploy' | 'diff' | 'destroy',
  stage: string,
  options: readonly string[],
): Promise<number> {
  const isDeployed = verb === 'deploy';
  if (isDeployed) checkUpstream(stage);
  const cdk = cdkProgram(verb);
  if (!isElsewhere(options)) await awsAccess();
  const fault = isDeployed
    ? ((await deploymentFault(configOf(stage), options)) ?? (await bootstrapFault(options)))
    : undefined;
  if (fault) throw new ConfigError(fault);
  checkFolder(verb);
  const args = [cdk, verb, stackNameOf(stage), '-c', `stage=${stage}`, ...options];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  const [code] = await once(child, 'close');
  return Number(code ?? 1);
}

/** @throws ConfigError for a stage that is still the example */
export function checkUpstream(stage: string): void {
  if (configOf(stage).upstream?.baseUrl === exampleBaseUrl)
    throw new ConfigError(
      `The stage ${stage} still has the example's base URL: put that of your upstream into ${stagesPlace()}.`,
    );
}

const clone = join(import.meta.dirname, '../..');

/** The CDK reads cdk.json of the folder, and the app reads the stages that stand there. @throws StartError elsewhere */
function checkFolder(verb: string): void {
  if (process.cwd() !== clone)
    throw new StartError(
      `countersign ${verb} runs in the folder of the clone, whose app it deploys: go there first.`,
    );
}

/** Before anything is asked or done. @throws StartError where no stage can be deployed from */
export function checkClone(verb: string): void {
  cdkProgram(verb);
  checkFolder(verb);
}

/** The functions are bundled of their sources, which a package does not have. */
function cdkProgram(verb: string): string {
  if (!existsSync(join(clone, 'infra/app.ts')))
    throw new StartError(
      `countersign ${verb} needs a clone of the repository, because it bundles the functions from their sources: clone it, run npm ci there, and run the command again.`,
    );
  try {
    return createRequire(import.meta.url).resolve('aws-cdk/bin/cdk');
  } catch {
    throw new StartError(
      `countersign ${verb} needs the CDK, which is not installed here: run npm ci in the clone.`,
    );
  }
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
  if (isElsewhere(options)) return undefined;
  const elsewhere = certificateRegionFault(config.domain, process.env.AWS_REGION);
  if (elsewhere || reservedBy(config) === 0) return elsewhere;
  const instances = await readInstances();
  return instances === undefined ? undefined : reservationFault(config, instances);
}

/** What the CDK's usual bootstrap leaves in an account and Region, and each deployment asks for. */
const bootstrapVersion = '/cdk-bootstrap/hnb659fds/version';

/** @returns one sentence where the account and Region are not ready for the CDK; what cannot be read holds up nothing */
export async function bootstrapFault(options: readonly string[]): Promise<string | undefined> {
  // A toolkit stack with a name of its own may have a qualifier of its own, too.
  if (isElsewhere(options) || options.some((option) => /toolkit|qualifier/i.test(option))) return undefined;
  const access = await awsAccess();
  try {
    await awsJson('ssm', 'AmazonSSM.GetParameter', access, { Name: bootstrapVersion });
    return undefined;
  } catch (error) {
    return (error as Error).name === 'ParameterNotFound'
      ? `The CDK is not bootstrapped in ${access.region}: run npx cdk bootstrap aws://ACCOUNT/${access.region} once.`
      : undefined;
  }
}
