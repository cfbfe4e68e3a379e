/**
 * `countersign secret`: puts the app key and secret into the stack's secret. They come from standard input and never from an
 * argument or a variable: other processes can read both, and shells keep them.
 */

import { createCredentials } from '../../lib/gateway/credentials.ts';
import { compareAndSet } from '../../lib/kernel/pauses.ts';
import { StartError } from '../environment.ts';
import {
  outputOf,
  outputsOf,
  type StackSecret,
  type StoredSecret,
  secretOutput,
  stackSecret,
} from './stack-secret.ts';

/** @throws StartError for a text that the gateway could not use; the text is not repeated in it */
export async function usableSecret(text: string): Promise<string> {
  const secret = text.trim();
  const result = await createCredentials({ source: { read: async () => secret }, clock: Date.now }).current();
  if (result.ok) return secret;
  throw new StartError(
    'Standard input must be {"app_key": "…", "app_secret": "…"}, with an optional "access_token"; nothing was changed.',
  );
}

/**
 * Keeps the access token that the secret has. The new text may replace it with a member `access_token`, remove it with an
 * empty one, or make it useless by another app key.
 *
 * @returns words on what became of the token; empty when there was none
 * @throws StartError when the stack cannot be read or its secret cannot be written
 */
export async function setSecret(stackName: string, text: string): Promise<string> {
  const secret = stackSecret(stackName, outputOf(stackName, await outputsOf(stackName), secretOutput));
  const members = membersOf(text);
  if (Object.hasOwn(members, 'access_token')) {
    await secret.put(text);
    return '';
  }
  const said = await compareAndSet(maxTries, async () => {
    const current = await readToKeep(secret);
    const { app_key, access_token } = membersOf(current?.text);
    const token = isText(access_token) ? access_token : undefined;
    const keeps = token !== undefined && app_key === members.app_key;
    if (!current) {
      await secret.put(text);
      return '';
    }
    const next = keeps ? JSON.stringify({ ...members, access_token: token }) : text;
    if (!(await secret.replace(current, next))) return undefined;
    if (keeps) return 'Its access token stays; "access_token": "" in the JSON takes it away.';
    return token === undefined
      ? ''
      : 'Its access token was of another app key and is gone; countersign token makes one where the upstream wants one.';
  });
  if (said === undefined) throw new StartError(changesTooOften(stackName));
  return said;
}

/** Tries of a write that another operator's write overtakes. */
export const maxTries = 5;

export const changesTooOften = (stackName: string) =>
  `The secret of ${stackName} was changed by others ${maxTries} times meanwhile; nothing was written. Run the command again.`;

/** Fails without the right to read, because the token would be lost without a word. */
async function readToKeep(secret: StackSecret): Promise<StoredSecret | undefined> {
  try {
    return await secret.read();
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    throw new StartError(
      `${error.message} It is read to keep its access token; with the member "access_token" in the JSON, "" for none, it is not.`,
    );
  }
}

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Parses an object; any other text has no members. */
export function membersOf(text = ''): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
