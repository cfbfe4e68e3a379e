/** The least that a function can be that reads the secret as ours do and makes one call: what their first answers are measured against. */

import { createHmac } from 'node:crypto';
import https from 'node:https';
import { createSecretsManagerSource } from '../../functions/aws/secrets-manager.ts';

const { baseUrl, secretId } = JSON.parse(process.env.UPSTREAM ?? '') as Record<string, string>;
// Read while the function starts, as ours do.
const secret = createSecretsManagerSource({ secretId: secretId ?? '' }).read();
secret.catch(() => {});

export const handler = async () => {
  const { app_key: key = '', app_secret = '' } = JSON.parse((await secret) ?? '') as Record<string, string>;
  const path = '/trading/accounts/list';
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
