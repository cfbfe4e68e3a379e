/** Changes that an operator may make to a scope, and their effect on it; the history contains the same changes. */

import type { KeyedNames } from '../access/directory.ts';
import type { Principal } from '../access/evidence.ts';
import { nameOfPrincipal } from '../access/identity.ts';
import { CountersignError } from '../signer/errors.ts';
import type { CheckpointTable } from './checkpoints.ts';
import { accountScope, type Stop, stackScope, userScope } from './controls.ts';
import { areLimits, type LimitChanges, mergeChanges, readLimitChanges, withChanges } from './limits.ts';

/** The gateway, account or user whose trading a change concerns, in clear. */
export type ControlSubject =
  /** All trading through the gateway. */
  | { readonly kind: 'gateway' }
  | { readonly kind: 'account'; readonly id: string }
  | { readonly kind: 'user'; readonly user: Principal };

export type ControlChange =
  | {
      readonly action: 'limits';
      readonly subject: ControlSubject;
      /** Null removes a limit; in the gateway's scope also the deployed one. */
      readonly changes: LimitChanges;
      readonly reason?: string | undefined;
    }
  | {
      readonly action: 'stop';
      readonly subject: ControlSubject;
      readonly reason: string;
      /** Also cancels open orders, even of a scope that is stopped already. */
      readonly cancelOpen?: boolean;
    }
  | { readonly action: 'resume'; readonly subject: ControlSubject; readonly reason: string }
  /** Accepts restored tables as they are now. It changes nothing in the scope, but is in its history. */
  | {
      readonly action: 'confirm';
      readonly subject: ControlSubject;
      readonly tables: readonly CheckpointTable[];
      readonly reason: string;
    };

/** Limits and stop of a scope, without the store's own members. */
export interface ControlState {
  readonly limits: LimitChanges;
  readonly stopped?: Stop;
}

/** Thrown when a change of limits or of a stop was not made. */
export class ControlChangeError extends CountersignError<'change_refused' | 'changed_by_others'> {
  override readonly name = 'ControlChangeError';
}

/** The subject's key in stores, which ends with its name in logs. */
export async function keyOfControl(names: KeyedNames, subject: ControlSubject): Promise<string> {
  switch (subject.kind) {
    case 'gateway':
      return stackScope;
    case 'account':
      return accountScope(await names.nameOf('account', subject.id));
    case 'user':
      return userScope(await nameOfPrincipal(names, subject.user));
  }
}

/**
 * @param now in milliseconds since the epoch
 * @returns the scope after the change; the value `before` itself if nothing changes
 * @throws ControlChangeError for invalid limits, and for a stop without a reason
 */
export function changedControl(before: ControlState, change: ControlChange, now: number): ControlState {
  const { reason } = change;
  if (reason === undefined ? change.action !== 'limits' : !isReason(reason))
    return refuse('A reason has 1 to 500 visible characters.');
  switch (change.action) {
    case 'limits':
      return changedLimits(before, change);
    case 'stop':
      return before.stopped ? before : { ...before, stopped: { at: now } };
    case 'confirm':
      return { ...before };
    case 'resume': {
      const { stopped, ...others } = before;
      return stopped ? others : before;
    }
  }
}

function changedLimits(
  before: ControlState,
  { subject, changes: given }: Extract<ControlChange, { readonly action: 'limits' }>,
): ControlState {
  const changes = readLimitChanges(given);
  if (!areLimits(changes)) return refuse(changes.map(({ name, detail }) => `${name} ${detail}.`).join(' '));
  const limits =
    subject.kind === 'gateway' ? mergeChanges(before.limits, changes) : withChanges(before.limits, changes);
  return textOf(limits) === textOf(before.limits) ? before : { ...before, limits };
}

/** Text for comparing limits, independent of the order of their members. */
const textOf = ({ actions = {}, ...limits }: LimitChanges) =>
  JSON.stringify([sorted(limits), sorted(actions)]);
const sorted = (members: object) => Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));

const refuse = (reason: string): never => {
  throw new ControlChangeError('change_refused', reason);
};

/** Longest reason of a change, in characters: the history has it, and it is printed for operators. */
const maxLength = 500;

/** Characters that could end a line or hide in one, and half characters. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const anyInvisible = new RegExp(`${invisible.source}+`, 'gu');

/** Whether a text has 1 to 500 visible characters. It is printed, and must not disguise the text beside it. */
export const isReason = (text: string): boolean =>
  text.length <= maxLength && text.trim() !== '' && !invisible.test(text);

/**
 * Makes a reason from another system's text: invisible characters become a space, and a text that is too long ends with
 * `…`.
 *
 * @param otherwise the reason for a text without visible characters
 *
 * @example
 * toReason('Threshold\nCrossed', 'no reason given'); // 'Threshold Crossed'
 */
export function toReason(text: string, otherwise: string): string {
  const visible = text.replaceAll(anyInvisible, ' ').trim();
  if (visible === '') return otherwise;
  if (visible.length <= maxLength) return visible;
  // The cut may leave half of a character outside the basic plane.
  return `${visible.slice(0, maxLength - 1).replace(invisible, '')}…`;
}
