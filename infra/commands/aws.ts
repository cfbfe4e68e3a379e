/** Access to AWS that the commands share: credentials and Region, errors about them, and signed calls without a client. */

import { Sha256 } from '@aws-crypto/sha256-js';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { SignatureV4 } from '@smithy/signature-v4';
import { StartError } from '../environment.ts';

/** Credentials and Region, in the form that AWS clients take in their configuration. */
export interface AwsAccess {
  readonly credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials'];
  readonly region: string;
}

/**
 * Reads credentials and Region from environment or profile, as every AWS command does; keys in the environment cost no request.
 *
 * @throws StartError without credentials or Region
 */
export async function awsAccess(): Promise<AwsAccess> {
  const { config } = new CloudFormationClient();
  try {
    const [region, credentials] = await Promise.all([config.region(), config.credentials()]);
    return { region, credentials };
  } catch (error) {
    throw accessFault(error) ?? error;
  }
}

const noCredentials = ['CredentialsProviderError', 'TokenProviderError'];
const refusedCredentials = [
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'ExpiredTokenException',
];

/**
 * Turns an error about credentials or Region into a sentence for the operator. AWS's messages are left out, because they
 * may repeat a key.
 *
 * @returns undefined for any other error
 */
export function accessFault(error: unknown): StartError | undefined {
  const { name, message } = error instanceof Error ? error : { name: '', message: '' };
  if (noCredentials.includes(name))
    return new StartError(
      'AWS credentials are missing: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    );
  if (refusedCredentials.includes(name))
    return new StartError(`AWS does not accept the credentials (${name}): renew them.`);
  if (message === 'Region is missing') return new StartError('The Region is missing: set AWS_REGION.');
  return undefined;
}

/** Creates a fetch that signs with the operator's own credentials, as API Gateway requires for a group with `iam`. */
export function signingFetch(service: string, access: AwsAccess): typeof fetch {
  const signer = new SignatureV4({ service, sha256: Sha256, ...access });
  return async (input, init = {}) => {
    const url = new URL(String(input));
    const { headers } = await signer.sign({
      method: init.method ?? 'GET',
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port && { port: Number(url.port) }),
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { ...(init.headers as Record<string, string>), host: url.host },
      body: init.body,
    });
    return fetch(input, { ...init, headers });
  };
}

const timeoutMs = 10_000;

/** Sends one signed call to an AWS service for which the project has no client. */
export async function awsCall(
  service: string,
  access: AwsAccess,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const { region } = access;
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const own = process.env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] ?? process.env.AWS_ENDPOINT_URL;
  const url = new URL(own ?? `https://${service}.${region}.${suffix}`);
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await signingFetch(service, access)(url, { method: 'POST', headers, body, signal });
  return { status: response.status, text: await response.text() };
}

/** Sends a call in AWS's JSON protocol. @throws Error whose name is AWS's error code */
export async function awsJson(
  service: string,
  target: string,
  access: AwsAccess,
  input: object,
): Promise<unknown> {
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
  const { status, text } = await awsCall(service, access, headers, JSON.stringify(input));
  const reply = JSON.parse(text) as { readonly __type?: string };
  // Some services put a namespace before the error code.
  const refusal = reply.__type?.replace(/^.*#/, '');
  if (status !== 200 || refusal) throw Object.assign(new Error(), { name: refusal ?? `status ${status}` });
  return reply;
}
