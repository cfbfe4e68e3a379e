/**
 * Reads the secrets with which a command signs or calls. They come from the environment, a file or standard input; never
 * from an argument, which every process of the machine can read.
 */

import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { StartError } from '../environment.ts';
import { value } from './command.ts';

const secretNames = ['APP_KEY', 'APP_SECRET', 'ACCESS_TOKEN', 'API_KEY', 'TOKEN'] as const;

type CredentialName = (typeof secretNames)[number];
type Secrets = Readonly<Partial<Record<CredentialName, string>>>;

export const credentials = value(
  '<file>',
  'JSON with app_key, app_secret, access_token, api_key or token, in place of the variables; - is standard input',
);

/** @throws StartError for a file that cannot be read */
export async function readText(file: string): Promise<string> {
  try {
    return file === '-' ? await text(process.stdin) : readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`A file cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'an error'}.`);
  }
}

/**
 * @param file JSON that is read in place of the environment
 * @throws StartError that names what is missing or cannot be used, and repeats nothing
 */
export async function secrets<const N extends CredentialName>(
  file: string | undefined,
  needed: readonly N[],
): Promise<Secrets & Readonly<Record<N, string>>> {
  const found = file === undefined ? process.env : secretsIn(await readText(file));
  const texts = Object.fromEntries(secretNames.flatMap((name) => (found[name] ? [[name, found[name]]] : [])));
  const missing = needed.filter((name) => !texts[name]);
  if (missing.length > 0)
    throw new StartError(
      `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not set: set ${missing.length > 1 ? 'them' : 'it'} in the environment, or give --credentials with a file that has ${missing.join(' and ').toLowerCase()}.`,
    );
  // Headers carry these values: with other characters, a call would fail as if there were no network.
  for (const [name, one] of Object.entries(texts))
    if (name !== 'APP_SECRET' && !/^[!-~]+$/.test(one))
      throw new StartError(`${name} must be visible ASCII characters without spaces.`);
  return texts as Secrets & Readonly<Record<N, string>>;
}

function secretsIn(json: string): Readonly<Record<string, string | undefined>> {
  try {
    const members = Object.entries(JSON.parse(json) as object);
    return Object.fromEntries(
      members.flatMap(([name, one]) => (typeof one === 'string' ? [[name.toUpperCase(), one]] : [])),
    );
  } catch {
    throw new StartError('--credentials must be JSON like {"app_key": "…", "app_secret": "…"}.');
  }
}
