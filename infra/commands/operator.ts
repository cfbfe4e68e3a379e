/** Who runs a command, by AWS: one call of its Security Token Service, signed here for want of a client of it. */

import { Sha256 } from '@aws-crypto/sha256-js';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { SignatureV4 } from '@smithy/signature-v4';
import { StartError } from '../environment.ts';

const timeoutMs = 10_000;
const body = 'Action=GetCallerIdentity&Version=2011-06-15';

/**
 * The ARN of the identity whose credentials the environment has; of an assumed role with its session, which often has a
 * person's name.
 *
 * @throws StartError when AWS does not say
 */
export async function operatorArn(): Promise<string> {
  try {
    const { config } = new CloudFormationClient();
    const [region, credentials] = await Promise.all([config.region(), config.credentials()]);
    const { AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL } = process.env;
    const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    const url = new URL(AWS_ENDPOINT_URL_STS ?? AWS_ENDPOINT_URL ?? `https://sts.${region}.${suffix}`);
    const signer = new SignatureV4({ service: 'sts', sha256: Sha256, region, credentials });
    const { headers } = await signer.sign({
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      path: '/',
      headers: { host: url.host, 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      body,
    });
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    const arn = /<Arn>(arn:[^<]+)<\/Arn>/.exec(await response.text())?.[1];
    if (!response.ok || !arn) throw Object.assign(new Error(), { name: `status ${response.status}` });
    return arn;
  } catch (error) {
    throw new StartError(
      `AWS does not say who you are, and a change without a name in the audit is not made: ${(error as Error).name}.`,
    );
  }
}
