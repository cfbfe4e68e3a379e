/** Grants each caller of `countersign prove` the rights that the steps need, in the way in which the stage's groups open. */

import { principalArn } from '../../../lib/access/evidence.ts';
import { isAccountData } from '../../../lib/catalogue/groups.ts';
import type { Group } from '../../../lib/catalogue/index.ts';
import { StartError } from '../../environment.ts';
import type { ResolvedConfig } from '../../stack/config.ts';
import { keyOutput } from '../../stack/outputs.ts';
import { operatorArn } from '../operator.ts';
import type { StackTarget } from '../readers.ts';
import { outputOf } from '../stack-secret.ts';
import { type CommandSubject, deployedUsers, manageUsers, type UsersArguments } from '../users.ts';

interface GrantingParts {
  readonly config: Pick<ResolvedConfig, 'access'>;
  readonly target: StackTarget;
  readonly outputs: ReadonlyMap<string, string>;
  readonly options: { readonly token: string | undefined };
  /** Collects the callers' identities, which no report may contain. */
  readonly confidential: string[];
}

/** @returns in words who was granted the right to read and trade; empty if no group asks who calls */
export async function grantAll(day: GrantingParts): Promise<readonly string[]> {
  const { access } = day.config;
  const modes = new Set(
    Object.entries(access).flatMap(([group, mode]) => (isAccountData(group as Group) ? [mode] : [])),
  );
  const granted: string[] = [];
  if (modes.has('iam')) {
    const arn = principalArn(await operatorArn());
    day.confidential.push(arn, arn.split(':')[4] ?? '');
    await grant(day, { kind: 'iam', arn });
    granted.push('the operator who runs this');
  }
  if (modes.has('bound-key')) {
    await grant(day, {
      kind: 'key',
      id: outputOf(day.target.stackName, day.outputs, keyOutput('default', 'default')),
    });
    granted.push('the API key');
  }
  const { token } = day.options;
  if (modes.has('jwt') && token !== undefined) {
    const subject = subjectIn(token);
    // Withholding a shorter subject would replace parts of other words; no step writes subjects anyway.
    if (subject.length > 5) day.confidential.push(subject);
    await grant(day, { kind: 'user', subject });
    granted.push('the user of the token');
  }
  return granted;
}

async function grant({ target }: GrantingParts, who: CommandSubject): Promise<void> {
  const grantArguments: UsersArguments = {
    target,
    verb: 'grant',
    who,
    accounts: ['*'],
    userData: true,
    scopes: ['read', 'trade'],
    days: 1,
    limit: 1,
    json: false,
  };
  await manageUsers(grantArguments, await deployedUsers(grantArguments));
}

/** Reads the subject of a token without verifying it, which the gateway does. @throws StartError, which repeats nothing of it */
export function subjectIn(token: string): string {
  try {
    const { sub } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      sub?: unknown;
    };
    if (typeof sub === 'string' && sub !== '') return sub;
  } catch {
    // Handled below, like a token without a subject.
  }
  throw new StartError('TOKEN must be an access token of the stage’s issuer, with the claim sub.');
}
