/** Controls and mass cancels in memory, with the operator's side, for tests and for one process. */

import { newest, type SealedLine } from '../access/sealed-lines.ts';
import { type ControlAdminStore, type ControlEntry, controlOf } from './control-admin-store.ts';
import type { Control } from './controls.ts';
import type { MassCancel, MassCancelStore } from './mass-cancels.ts';

export interface MemoryControls extends ControlAdminStore {
  readonly massCancels: MassCancelStore;
  /** Sets a scope's control without a line in the history. */
  set(key: string, control: Omit<Control, 'version'>): void;
}

/** @example const controls = createMemoryControls(); controls.set('stack', { limits: { max_orders_per_minute: 30 } }); */
export function createMemoryControls(): MemoryControls {
  const entries = new Map<string, ControlEntry>();
  const records: SealedLine[] = [];
  const massCancels = new Map<string, MassCancel>();
  const versionOf = (key: string) => entries.get(key)?.version ?? 0;
  return {
    async read(keys) {
      const there = keys.flatMap((key) => entries.get(key) ?? []);
      return new Map(there.map((entry) => [entry.key, controlOf(entry)]));
    },
    find: async (key) => entries.get(key),
    async write({ expected, next, keepsLimits, history, massCancel }) {
      if (versionOf(next.key) !== expected) return false;
      const limits = keepsLimits ? (entries.get(next.key)?.limits ?? {}) : next.limits;
      entries.set(next.key, { ...next, limits });
      records.push(history);
      if (massCancel) massCancels.set(massCancel.scope, massCancel);
      return true;
    },
    list: async () => [...entries.values()],
    history: async (limit) => newest(records, limit),
    massCancels: {
      async request(massCancel) {
        const { scope, placedBefore } = massCancel;
        const open = massCancels.get(scope);
        if (!open || placedBefore >= open.placedBefore) massCancels.set(scope, massCancel);
      },
      open: async () => [...massCancels.values()],
      finish: async ({ id, scope }) => massCancels.get(scope)?.id === id && massCancels.delete(scope),
    },
    set(key, control) {
      entries.set(key, { ...control, key, version: versionOf(key) + 1, sealed: new Uint8Array() });
    },
  };
}
