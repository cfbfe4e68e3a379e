/** The handler of empty functions that make one call to the upstream with the secret: a signature that no upstream takes. */

import { createHmac } from 'node:crypto';
import https from 'node:https';

const path = '/trading/accounts/list';

/** @param readSecret called now, because our functions read the secret while they start, too */
export function oneCall(readSecret: (secretId: string) => Promise<string | undefined>) {
  const { baseUrl, secretId = '' } = JSON.parse(process.env.UPSTREAM ?? '') as Record<string, string>;
  const secret = readSecret(secretId);
  secret.catch(() => {});
  return async () => {
    const { app_key: key = '', app_secret = '' } = JSON.parse((await secret) ?? '') as Record<string, string>;
    const signature = createHmac('sha1', app_secret).update(path).digest('base64');
    const headers = { 'x-app-key': key, 'x-signature': signature };
    return new Promise((resolve, reject) => {
      const request = https.get(`${baseUrl}${path}`, { headers }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text) => {
          body += text;
        });
        response.on('end', () => resolve({ statusCode: response.statusCode, body }));
      });
      request.on('error', reject);
    });
  };
}
