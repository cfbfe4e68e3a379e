/** Changes and shows limits and stops for operators; each change is recorded in the history. */

import type { Identity } from '../access/identity.ts';
import { nonce, sealedLines } from '../access/sealed-lines.ts';
import { clockSkewMs } from '../kernel/clock-skew.ts';
import { openJson, sealJson } from '../kernel/sealer.ts';
import {
  type CheckpointStore,
  type CheckpointTable,
  nextCheckpoint,
  type TableNames,
} from './checkpoints.ts';
import type { ControlAdminStore, ControlEntry } from './control-admin-store.ts';
import {
  type ControlChange,
  ControlChangeError,
  type ControlState,
  type ControlSubject,
  changedControl,
  keyOfControl,
} from './control-changes.ts';
import { maxControlAgeMs } from './controls.ts';
import type { LimitChanges } from './limits.ts';
import type { MassCancel } from './mass-cancels.ts';

export interface ControlAdminOptions {
  readonly store: ControlAdminStore;
  readonly identity: Identity;
  /** Operator who makes the changes, for the history: an ARN, for example. */
  readonly by: string;
  /** Now, in milliseconds since the epoch. */
  readonly clock?: () => number;
}

export interface ControlAdmin {
  /**
   * Makes a change. Writes nothing, not even to the history, when the scope would stay the same and no order is to be
   * cancelled. A concurrent change of the same scope is never lost: this one begins anew.
   *
   * @throws ControlChangeError `change_refused` for invalid limits, or without a reason where one is needed,
   * `changed_by_others` when other operators changed the scope each time
   */
  apply(change: ControlChange): Promise<AppliedControl>;
  /** @returns undefined when nothing was ever set for the subject */
  find(subject: ControlSubject): Promise<ListedControl | undefined>;
  list(): Promise<readonly ListedControl[]>;
  /** The newest first. */
  history(limit: number): Promise<readonly ControlHistoryLine[]>;
}

export interface AppliedControl {
  readonly isChanged: boolean;
  /** The control after the change; undefined when nothing was ever set. */
  readonly control: ListedControl | undefined;
  /** Limits before the change. */
  readonly limitsBefore: LimitChanges;
}

/** The control of a scope, for an operator. */
export interface ListedControl extends ControlState {
  readonly version: number;
  /** The account's or user's name in logs; absent for the gateway. */
  readonly name?: string;
  /** Absent when it was sealed with another identity key; limits and stop count nevertheless. */
  readonly about?: ControlAbout;
}

/** The sealed part of a scope's entry. */
interface ControlAbout {
  readonly subject: ControlSubject;
  /** Operator who stopped trading, and the reason. */
  readonly stopped?: { readonly by: string; readonly reason: string };
}

export type ControlHistoryLine =
  | {
      readonly at: string;
      readonly by: string;
      readonly version: number;
      readonly change: ControlChange;
      /** Earlier values of the limits that the change names; absent for other changes, and in lines of earlier versions. */
      readonly limitsBefore?: LimitChanges;
    }
  /** Sealed with another identity key. */
  | { readonly at: string };

/** How often a change begins anew because another one came between. */
const maxTries = 8;

/**
 * @example
 * const admin = createControlAdmin({ store: createMemoryControls(), identity, by: 'local run' });
 * await admin.apply({ action: 'stop', subject: { kind: 'gateway' }, reason: 'a strategy runs wild' });
 */
export function createControlAdmin({
  store,
  identity,
  by,
  clock = Date.now,
}: ControlAdminOptions): ControlAdmin {
  const { names, sealer } = identity;
  const lines = sealedLines(identity, 'history ');
  const aboutIn = ({ key, sealed }: Pick<ControlEntry, 'key' | 'sealed'>) =>
    openJson<ControlAbout>(sealer, sealed, key);

  async function listed(entry: ControlEntry): Promise<ListedControl> {
    const { key, version, limits, stopped } = entry;
    const about = await aboutIn(entry);
    const name = key.split(' ')[1];
    return {
      version,
      limits,
      ...(stopped && { stopped }),
      ...(name !== undefined && { name }),
      ...(about && { about }),
    };
  }

  async function aboutOf(change: ControlChange, next: ControlState, before: ControlEntry | undefined) {
    const { subject } = change;
    if (!next.stopped) return { subject };
    // A scope that is stopped already keeps its first stop, even if a second one cancels open orders.
    const stopped =
      change.action === 'stop' && !before?.stopped
        ? { by, reason: change.reason }
        : before && (await aboutIn(before))?.stopped;
    return { subject, ...(stopped && { stopped }) };
  }

  return {
    async apply(change) {
      const key = await keyOfControl(names, change.subject);
      for (let left = maxTries; left > 0; left--) {
        const now = clock();
        const before = await store.find(key);
        const state = stateOf(before);
        const changed = changedControl(state, change, now);
        const massCancel = massCancelOf(change, key, now);
        if (changed === state && !massCancel)
          return {
            isChanged: false,
            control: before && (await listed(before)),
            limitsBefore: state.limits,
          };
        const expected = before?.version ?? 0;
        const version = expected + 1;
        const sealed = await sealJson(sealer, await aboutOf(change, changed, before), key);
        const next = { key, version, ...changed, sealed };
        const history = await lines.seal(now, {
          by,
          version,
          change,
          ...(change.action === 'limits' && { limitsBefore: namedBy(change.changes, state.limits) }),
        });
        const keepsLimits = change.action === 'stop';
        if (await store.write({ expected, next, keepsLimits, history, ...(massCancel && { massCancel }) }))
          return { isChanged: true, control: await listed(next), limitsBefore: state.limits };
      }
      throw new ControlChangeError('changed_by_others', 'others changed the same scope each time');
    },
    async find(subject) {
      const entry = await store.find(await keyOfControl(names, subject));
      return entry && listed(entry);
    },
    list: async () => Promise.all((await store.list()).map(listed)),
    async history(limit) {
      return Promise.all((await store.history(limit)).map((line) => lines.open<ControlHistoryLine>(line)));
    },
  };
}

/**
 * How long after a stop instances may still place orders, because they do not know of it yet; their clocks may be behind
 * the operator's.
 */
const stoppedAfterMs = maxControlAgeMs + clockSkewMs;

function massCancelOf(change: ControlChange, scope: string, now: number): MassCancel | undefined {
  if (change.action !== 'stop' || !change.cancelOpen) return undefined;
  return { id: nonce(), scope, at: now, placedBefore: now + stoppedAfterMs };
}

/** The limits that the changes name. */
function namedBy(
  { actions = {}, ...own }: LimitChanges,
  { actions: actionsOf = {}, ...ownOf }: LimitChanges,
) {
  const left = among(actions, actionsOf);
  return { ...among(own, ownOf), ...(Object.keys(left).length > 0 && { actions: left }) };
}

const among = (names: object, members: object) =>
  Object.fromEntries(Object.entries(members).filter(([name]) => name in names));

const stateOf = (entry: ControlEntry | undefined): ControlState =>
  entry ? { limits: entry.limits, ...(entry.stopped && { stopped: entry.stopped }) } : { limits: {} };

interface ConfirmParts {
  readonly admin: Pick<ControlAdmin, 'apply'>;
  readonly checkpoints: CheckpointStore;
  readonly tables: TableNames;
  readonly clock: () => number;
}

/**
 * Accepts restored tables as they are: no evidence shows what they lack. Writes operator, time and reason to the history
 * first.
 *
 * @throws ControlChangeError without a reason, and where the settlement wrote a checkpoint at the same moment each time
 */
export async function confirmTables(
  { admin, checkpoints, tables, clock }: ConfirmParts,
  taken: readonly CheckpointTable[],
  reason: string,
): Promise<void> {
  await admin.apply({ action: 'confirm', subject: { kind: 'gateway' }, tables: taken, reason });
  for (let left = 3; left > 0; left--) if (await nextCheckpoint(checkpoints, tables, clock(), taken)) return;
  throw new ControlChangeError('changed_by_others', 'other checkpoints were written each time');
}
