/** A call signed as AWS wants it where a group is opened with IAM. */

import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import { clientConfig } from './deployment.ts';
import type { Stage } from './stage.ts';

/** The headers to send. */
export async function signedByAws(
  stage: Pick<Stage, 'emulator' | 'url'>,
  path: string,
  {
    body,
    ...init
  }: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string },
): Promise<Record<string, string>> {
  const { credentials, region } = clientConfig(stage.emulator);
  const url = new URL(`${stage.url}${path}`);
  const signer = new SignatureV4({ service: 'execute-api', region, credentials, sha256: Sha256 });
  const signed = await signer.sign({
    ...init,
    protocol: url.protocol,
    hostname: url.hostname,
    port: Number(url.port),
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: { ...init.headers, host: url.host },
    ...(body && { body }),
  });
  return signed.headers;
}
