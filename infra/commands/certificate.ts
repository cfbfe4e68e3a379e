/** Asks AWS Certificate Manager for preflight whether the domain's certificate is issued, and for which names. */

import { type AwsAccess, awsJson } from './aws.ts';

export interface Certificate {
  /** `ISSUED`, `PENDING_VALIDATION` …; `missing` when the account has none of that ARN. */
  readonly status: string;
  /** Host names; the first label may be `*`. */
  readonly names: readonly string[];
}

interface CertificateReply {
  readonly Certificate?: { readonly Status?: string; readonly SubjectAlternativeNames?: readonly string[] };
}

/** @throws Error whose name is AWS's error code */
export async function readCertificate(arn: string, access: AwsAccess): Promise<Certificate> {
  const input = { CertificateArn: arn };
  const reply = await awsJson('acm', 'CertificateManager.DescribeCertificate', access, input).catch(
    (error: Error) => {
      if (error.name !== 'ResourceNotFoundException') throw error;
      return { Certificate: { Status: 'missing', SubjectAlternativeNames: [] } };
    },
  );
  const { Status: status, SubjectAlternativeNames: names } = (reply as CertificateReply).Certificate ?? {};
  if (!status || !names) throw Object.assign(new Error(), { name: 'an answer without a certificate' });
  return { status, names };
}

/** Tells whether clients accept the certificate for a host; `*` stands for exactly one label. */
export const isFor = ({ names }: Certificate, host: string): boolean =>
  names.some((name) => name === host || name === host.replace(/^[^.]+/, '*'));
