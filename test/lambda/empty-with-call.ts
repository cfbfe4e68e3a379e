/** The least that a function can be that reads the secret as ours do and makes one call: what their first answers are measured against. */

import { createSecretsManagerSource } from '../../functions/aws/secrets-manager.ts';
import { oneCall } from './one-call.ts';

export const handler = oneCall((secretId) => createSecretsManagerSource({ secretId }).read());
