/** What an operator may change of a scope, and what the scope is after it; the same value stands in the history. */

import type { KeyedNames } from '../access/directory.ts';
import type { Principal } from '../access/evidence.ts';
import { nameOfPrincipal } from '../access/identity.ts';
import { CountersignError } from '../signer/errors.ts';
import { accountScope, type Stop, stackScope, userScope } from './controls.ts';
import { areLimits, type LimitChanges, mergeChanges, readLimitChanges, withChanges } from './limits.ts';
import { isReason } from './reason.ts';

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
      readonly reason?: string;
    }
  | {
      readonly action: 'stop';
      readonly subject: ControlSubject;
      readonly reason: string;
      /** Cancels what is open, too; also of what is stopped already. */
      readonly cancelOpen?: boolean;
    }
  | { readonly action: 'resume'; readonly subject: ControlSubject; readonly reason: string };

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
