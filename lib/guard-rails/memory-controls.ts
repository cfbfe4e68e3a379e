/** Controls in memory, with the operator's side: for tests, and for one process. */

import type { Control, ControlStore } from './controls.ts';

export interface MemoryControls extends ControlStore {
  /** What is set of a scope from now on. */
  set(key: string, control: Omit<Control, 'version'>): void;
}

/** @example const controls = createMemoryControls(); controls.set('stack', { limits: { max_orders_per_minute: 30 } }); */
export function createMemoryControls(): MemoryControls {
  const controls = new Map<string, Control>();
  return {
    async read(keys) {
      return new Map(keys.flatMap((key) => (controls.has(key) ? [[key, controls.get(key)!] as const] : [])));
    },
    set(key, control) {
      controls.set(key, { ...control, version: (controls.get(key)?.version ?? 0) + 1 });
    },
  };
}
