/**
 * What preflight asks AWS Certificate Manager: whether the domain's certificate is issued, and for which names. One
 * call, signed here, because the project has no client of that service and needs no other call of it.
 */

import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';

export interface Certificate {
  /** `ISSUED`, `PENDING_VALIDATION` …; `missing` when the account has none of that ARN. */
  readonly status: string;
  /** Host names, also with `*` as their first label. */
  readonly names: readonly string[];
}

/** As AWS clients have it in their configuration. */
export interface AwsAccess {
  readonly credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials'];
  readonly region: string;
}

const timeoutMs = 10_000;

/** @throws Error whose name is the one that AWS gives the refusal */
export async function readCertificate(arn: string, access: AwsAccess): Promise<Certificate> {
  const { AWS_ENDPOINT_URL_ACM, AWS_ENDPOINT_URL } = process.env;
  const suffix = access.region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const url = new URL(AWS_ENDPOINT_URL_ACM ?? AWS_ENDPOINT_URL ?? `https://acm.${access.region}.${suffix}`);
  const body = JSON.stringify({ CertificateArn: arn });
  const { headers } = await new SignatureV4({ service: 'acm', sha256: Sha256, ...access }).sign({
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname,
    path: '/',
    headers: {
      host: url.host,
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'CertificateManager.DescribeCertificate',
    },
    body,
  });
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { method: 'POST', headers, body, signal });
  const said = (await response.json()) as {
    readonly __type?: string;
    readonly Certificate?: { readonly Status?: string; readonly SubjectAlternativeNames?: readonly string[] };
  };
  // Some services put a namespace before it.
  const refusal = said.__type?.replace(/^.*#/, '');
  if (refusal === 'ResourceNotFoundException') return { status: 'missing', names: [] };
  const { Status: status, SubjectAlternativeNames: names } = said.Certificate ?? {};
  if (!response.ok || !status || !names)
    throw Object.assign(new Error(), { name: refusal ?? `status ${response.status}` });
  return { status, names };
}

/** Whether clients that ask for a host accept a certificate; `*` stands for exactly one label. */
export const isFor = ({ names }: Certificate, host: string): boolean =>
  names.some((name) => name === host || name === host.replace(/^[^.]+/, '*'));
