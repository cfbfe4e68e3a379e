/** What an operation does in the simulated upstream, once the request has been let in and checked. */

import type { Operation } from '../../../lib/catalogue/index.ts';
import type { Refusal } from '../refusal.ts';
import type { World } from '../world.ts';

export interface Call {
  readonly operation: Operation;
  /** Checked against the catalogue entry. */
  readonly query: Readonly<Record<string, string>>;
  /** Checked against the catalogue entry; undefined when the operation takes none. */
  readonly body: unknown;
  /** The upstream's clock, Unix time in milliseconds. */
  readonly now: number;
  /** The key that signed the request; absent where a behaviour is asked without one. */
  readonly appKey?: string;
}

export type Reply = { readonly ok: true; readonly payload: unknown } | Refusal;

export type Behaviour = (call: Call, world: World) => Reply;

/** Behaviours by operation id. */
export type Behaviours = Readonly<Record<string, Behaviour>>;

export function answer(payload: unknown): Reply {
  return { ok: true, payload };
}
