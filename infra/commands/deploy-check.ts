/** What `npm run deploy` checks before the CDK begins: what AWS cannot give would roll all of the deployment back. */

import type { CountersignConfig } from '../stack/config.ts';
import { resolveConfig } from '../stack/resolve-config.ts';
import { certificateRegionFault } from '../stack/resolve-domain.ts';
import { readInstances } from './account.ts';
import { reservationFault, reservedBy } from './preflight-bounds.ts';

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
