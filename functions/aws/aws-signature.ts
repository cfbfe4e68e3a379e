/** Signature Version 4 of AWS, for requests of AWS's JSON protocol: a body, and no query. */

import { createHash, createHmac } from 'node:crypto';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

interface Unsigned {
  readonly region: string;
  readonly credentials: AwsCredentials;
  /** Time of signing, in milliseconds since the epoch: services refuse a time that is minutes off. */
  readonly at: number;
  readonly url: URL;
  /** Headers besides those that the signature adds; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const algorithm = 'AWS4-HMAC-SHA256';

/**
 * @returns a function that returns the headers of a signed POST
 *
 * @example
 * const sign = createAwsSigner('dynamodb');
 * const headers = sign({ region, credentials, at: Date.now(), url, headers: {}, body: '{}' });
 */
export function createAwsSigner(service: string): (request: Unsigned) => Readonly<Record<string, string>> {
  // The signing key is the same for one day and one credential, and takes most of the hashing.
  let last: { readonly of: string; readonly key: string | Buffer } | undefined;
  const keyOf = (secret: string, parts: readonly string[]) => {
    const of = [...parts, secret].join('/');
    if (last?.of !== of) last = { of, key: parts.reduce<string | Buffer>(hmac, `AWS4${secret}`) };
    return last.key;
  };

  return ({ region, credentials, at, url, headers, body }) => {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    const time = new Date(at).toISOString().replace(/\.\d+|[-:]/g, '');
    const all: Record<string, string> = {
      ...headers,
      host: url.host,
      'x-amz-date': time,
      ...(sessionToken && { 'x-amz-security-token': sessionToken }),
    };
    const names = Object.keys(all).sort();
    const lines = names.map((name) => `${name}:${all[name]}\n`).join('');
    const signed = names.join(';');
    const request = `POST\n${url.pathname}\n\n${lines}\n${signed}\n${sha256(body)}`;
    const parts = [time.slice(0, 8), region, service, 'aws4_request'];
    const scope = parts.join('/');
    const text = `${algorithm}\n${time}\n${scope}\n${sha256(request)}`;
    const signature = hmac(keyOf(secretAccessKey, parts), text).toString('hex');
    const credential = `${accessKeyId}/${scope}`;
    all.authorization = `${algorithm} Credential=${credential}, SignedHeaders=${signed}, Signature=${signature}`;
    return all;
  };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
