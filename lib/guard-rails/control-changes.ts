/** What an operator may change of a scope, and what the scope is after it; the same value stands in the history. */

import type { KeyedNames } from '../access/directory.ts';
import type { Principal } from '../access/evidence.ts';
import { nameOfPrincipal } from '../access/identity.ts';
import { CountersignError } from '../signer/errors.ts';
import type { CheckpointTable } from './checkpoints.ts';
import { accountScope, type Stop, stackScope, userScope } from './controls.ts';
import { areLimits, type LimitChanges, mergeChanges, readLimitChanges, withChanges } from './limits.ts';

/** Whose trading a change is about, in clear. */
export type ControlSubject =
  /** All trading through the gateway. */
  | { readonly kind: 'gateway' }
  | { readonly kind: 'account'; readonly id: string }
  | { readonly kind: 'user'; readonly user: Principal };

export type ControlChange =
  | {
      readonly action: 'limits';
      readonly subject: ControlSubject;
      /** Null takes a limit away; of the gateway's scope also the one that was deployed. */
      readonly changes: LimitChanges;
      readonly reason?: string | undefined;
    }
  | {
      readonly action: 'stop';
      readonly subject: ControlSubject;
      readonly reason: string;
      /** Cancels what is open, too; also of what is stopped already. */
      readonly cancelOpen?: boolean;
    }
  | { readonly action: 'resume'; readonly subject: ControlSubject; readonly reason: string }
  /** Tables that were restored count as they are now. It changes nothing of the scope, and stands in its history. */
  | {
      readonly action: 'confirm';
      readonly subject: ControlSubject;
      readonly tables: readonly CheckpointTable[];
      readonly reason: string;
    };

/** What a scope is, without what the store adds. */
export interface ControlState {
  readonly limits: LimitChanges;
  readonly stopped?: Stop;
}

/** A change of limits or of a stop that was not made. */
export class ControlChangeError extends CountersignError<'change_refused' | 'changed_by_others'> {
  override readonly name = 'ControlChangeError';
}

/** The subject's key in stores: it ends with the name that logs have. */
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
 * @returns the same value where the scope is so already
 * @throws ControlChangeError for limits that are none, and for a stop without a reason
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

/** Equal for limits that were set in another order. */
const textOf = ({ actions = {}, ...limits }: LimitChanges) =>
  JSON.stringify([sorted(limits), sorted(actions)]);
const sorted = (members: object) => Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));

const refuse = (reason: string): never => {
  throw new ControlChangeError('change_refused', reason);
};

/** Of the reason of a stop or of another change: it stands in the history, and is printed for operators. */
const maxLength = 500;

/** What could end a line, hide in one, or stand for no character. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const anyInvisible = new RegExp(`${invisible.source}+`, 'gu');

/** Whether a text has 1 to 500 visible characters: it is printed, and must not disguise what is beside it. */
export const isReason = (text: string): boolean =>
  text.length <= maxLength && text.trim() !== '' && !invisible.test(text);

/**
 * Makes a reason of a text that another system wrote: invisible characters become a space, and what is too long ends
 * with `…`.
 *
 * @param otherwise a reason, for a text in which nothing is visible
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
