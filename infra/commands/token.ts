/**
 * `countersign token`: renews the access token that the upstream requires with two-factor checking. It checks the token in
 * the stack's secret, creates another one if needed, waits until its owner has confirmed it, and stores it. No argument,
 * output or error contains the token.
 */

import {
  createTokenCalls,
  TokenCallError,
  type TokenCalls,
  type TokenState,
} from '../../lib/access-token/calls.ts';
import { type Credential, toCredential } from '../../lib/gateway/credential.ts';
import { compareAndSet, sleep } from '../../lib/kernel/pauses.ts';
import { StartError } from '../environment.ts';
import { print } from './print.ts';
import { changesTooOften, maxTries, membersOf } from './secret-set.ts';
import { outputOf, outputsOf, type StackSecret, secretOutput, stackSecret } from './stack-secret.ts';

/** Stack output with the upstream's base URL. */
export const upstreamOutput = 'UpstreamUrl';

export interface TokenPorts {
  readonly stackName: string;
  readonly secret: StackSecret;
  callsFor(credential: Credential): TokenCalls;
  /** Now, in milliseconds since the epoch. */
  clock(): number;
  pause(milliseconds: number): Promise<void>;
  /** Prints one line for the operator. */
  say(line: string): void;
}

/** @throws StartError when the stack cannot be read */
export async function deployedPorts(stackName: string): Promise<TokenPorts> {
  const outputs = await outputsOf(stackName);
  const secret = stackSecret(stackName, outputOf(stackName, outputs, secretOutput));
  const baseUrl = outputs.get(upstreamOutput);
  if (!baseUrl)
    throw new StartError(
      `The stack ${stackName} has no output ${upstreamOutput}: deploy the stage once more, and run the command again.`,
    );
  return {
    stackName,
    secret,
    callsFor: (credential) => createTokenCalls({ baseUrl, credential }),
    clock: Date.now,
    pause: sleep,
    say: print,
  };
}

const dayMs = 86_400_000;

/** A token with less life is prolonged or replaced: the scheduled check raises the alarm at most 7 days before the end. */
const soonMs = 7.5 * dayMs;

/** Interval and patience of the interface's existing clients: an owner has 5 minutes to confirm. */
const pollMs = 5000;
const confirmWithinMs = 300_000;

/** Result of a renewal, without the token itself. */
interface Renewal {
  readonly needed: boolean;
  readonly changed: boolean;
  readonly status?: TokenState['status'];
  /** Unix time in milliseconds. */
  readonly expiresAt?: number | undefined;
}

/** @throws StartError in one line when no usable token results; the secret is then as it was */
export async function renewToken(ports: TokenPorts): Promise<Renewal> {
  const { stackName, secret, say, clock } = ports;
  const before = await secret.read();
  const result = toCredential(before?.text, { clock });
  if (!before || !result.ok)
    throw new StartError(
      `The secret of ${stackName} holds no app key and app secret: run countersign secret first.`,
    );
  const { credential } = result;
  const calls = ports.callsFor(credential);
  return inOneLine(async () => {
    if (!(await calls.isNeeded())) {
      say(
        `The upstream wants no access token with this app key; nothing was changed.${credential.accessToken === undefined ? '' : ' The one in the secret is sent all the same.'}`,
      );
      return { needed: false, changed: false };
    }
    const earlier = await stateOf(calls, credential.accessToken);
    say(
      earlier
        ? `The access token in the secret is ${inWords(earlier)}.`
        : 'The secret holds no access token.',
    );
    if (earlier?.status === 'NORMAL' && (earlier.expiresAt ?? Number.POSITIVE_INFINITY) - clock() > soonMs) {
      say('It can be used; nothing was changed.');
      return renewal(earlier, false);
    }
    const state = await waitForOwner(ports, calls, await nextOf(calls, earlier));
    const changed = state.token !== credential.accessToken;
    if (changed) await storeToken(ports, credential.appKey, state.token);
    say(
      `The access token is ${inWords(state)}, and stands in the secret of ${stackName}; functions use it within five minutes, or at once when the upstream refuses the one before.`,
    );
    return renewal(state, changed);
  });
}

const renewal = ({ token: _, ...state }: TokenState, changed: boolean): Renewal => ({
  needed: true,
  changed,
  ...state,
});

const stateOf = async (calls: TokenCalls, token: string | undefined): Promise<TokenState | undefined> =>
  token === undefined ? undefined : calls.check(token);

/** Chooses the token to wait for: the earlier one if its owner can still confirm it or if it is prolonged, else another one. */
async function nextOf(calls: TokenCalls, earlier: TokenState | undefined): Promise<TokenState> {
  if (earlier?.status === 'PENDING') return earlier;
  if (earlier?.status === 'NORMAL')
    try {
      return await calls.create(earlier.token);
    } catch (error) {
      // A refused request had no effect; the upstream may not renew tokens.
      if (!(error instanceof TokenCallError && error.isRefusal)) throw error;
    }
  return calls.create();
}

/** Waits for the owner. One failed check is no reason to give up: the next one may succeed. */
async function waitForOwner(
  { say, pause, clock }: TokenPorts,
  calls: TokenCalls,
  made: TokenState,
): Promise<TokenState> {
  let state = made;
  let failure = '';
  if (state.status === 'PENDING')
    say(
      `The access token waits for its owner, who gets a text message: open the broker’s app and confirm there within ${confirmWithinMs / 60_000} minutes. Waiting …`,
    );
  const until = clock() + confirmWithinMs;
  while (state.status === 'PENDING' && clock() < until) {
    await pause(pollMs);
    try {
      state = await calls.check(state.token);
      failure = '';
    } catch (error) {
      if (!(error instanceof TokenCallError)) throw error;
      failure = ` The last check failed: ${error.message}.`;
    }
  }
  if (state.status === 'NORMAL') return state;
  throw new StartError(
    state.status === 'PENDING'
      ? `The access token was not confirmed within ${confirmWithinMs / 60_000} minutes; nothing was changed.${failure} Run the command again, and confirm in the broker’s app.`
      : `The access token became ${state.status}; nothing was changed. Run the command again.`,
  );
}

/** Writes the token into the secret's current text, because another operator may have changed its other members meanwhile. */
async function storeToken({ stackName, secret }: TokenPorts, appKey: string, token: string): Promise<void> {
  const isStored = await compareAndSet(maxTries, async () => {
    const current = await secret.read();
    const members = membersOf(current?.text);
    if (!current || members.app_key !== appKey)
      throw new StartError(
        `The secret of ${stackName} got another app key meanwhile, which the new access token is not for; it was not stored. Run the command again.`,
      );
    return (await secret.replace(current, JSON.stringify({ ...members, access_token: token }))) || undefined;
  });
  if (!isStored) throw new StartError(changesTooOften(stackName));
}

const inWords = ({ status, expiresAt }: TokenState): string =>
  status === 'NORMAL' && expiresAt !== undefined
    ? `NORMAL until ${new Date(expiresAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`
    : status;

async function inOneLine<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TokenCallError)) throw error;
    throw new StartError(
      `The upstream gave no token: ${error.message}. Nothing was changed. countersign doctor says what is wrong with key, secret or base URL.`,
    );
  }
}
