/**
 * `countersign deploy`, `diff` and `destroy`: checks before the CDK begins, because something that AWS cannot give would
 * roll the whole deployment back; then runs the CDK.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ConfigError, type CountersignConfig } from '../stack/config.ts';
import { certificateRegionFault } from '../stack/domain-config.ts';
import { resolveConfig } from '../stack/resolve-config.ts';
import { configOf, exampleBaseUrl, stackNameOf, stagesPlace } from '../stack/stages.ts';
import { readInstances } from './account.ts';
import { awsAccess, awsJson } from './aws.ts';
import { cdkProgram, checkFolder } from './cdk-program.ts';
import { reservationFault, reservedBy } from './preflight-bounds.ts';

/** Tells whether the account is the one of `--profile`, which only the CDK reads. */
const isElsewhere = (options: readonly string[]) => options.some((option) => option.startsWith('--profile'));

/**
 * @param options passed on to the CDK: a pipeline, without an operator, adds `--require-approval never` or `--force`
 * @returns the CDK's exit code, or 1 if a signal ended it
 * @throws ConfigError for a configuration that must not reach the CDK, StartError when the CDK cannot begin
 */
export async function runCdk(
  verb: 'deploy' | 'diff' | 'destroy',
  stage: string,
  options: readonly string[],
): Promise<number> {
  const isDeployed = verb === 'deploy';
  if (isDeployed) checkUpstream(stage);
  const { path, options: own } = cdkProgram(verb);
  if (!isElsewhere(options)) await awsAccess();
  const fault = isDeployed
    ? ((await deploymentFault(configOf(stage), options)) ?? (await bootstrapFault(options)))
    : undefined;
  if (fault) throw new ConfigError(fault);
  checkFolder(verb);
  const args = [path, verb, stackNameOf(stage), ...own, '-c', `stage=${stage}`, ...options];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  const [code] = await once(child, 'close');
  return Number(code ?? 1);
}

/** @throws ConfigError for a stage that still has the example's upstream */
export function checkUpstream(stage: string): void {
  if (configOf(stage).upstream?.baseUrl === exampleBaseUrl)
    throw new ConfigError(
      `The stage ${stage} still has the example's base URL: put that of your upstream into ${stagesPlace()}.`,
    );
}

/**
 * Compares the certificate's Region with `AWS_REGION`. Asks AWS one question, only if the stage reserves instances. A
 * figure that cannot be read within a few seconds, or an account that only the CDK knows (`--profile`), holds up no
 * deployment.
 *
 * @param options passed on to the CDK
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

/** Parameter that the CDK's usual bootstrap leaves in an account and Region; each deployment reads it. */
const bootstrapVersion = '/cdk-bootstrap/hnb659fds/version';

/** @returns one sentence if account and Region lack the CDK's bootstrap; a failed read holds up nothing */
export async function bootstrapFault(options: readonly string[]): Promise<string | undefined> {
  // A toolkit stack with its own name may have its own qualifier, too.
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
