/** Behaviour of an operation in the simulated upstream, once the request has been admitted and checked. */

import type { Operation } from '../../../lib/catalogue/index.ts';
import type { Rejection } from '../refusal.ts';
import type { World } from '../world.ts';

export interface ApiCall {
  readonly operation: Operation;
  /** Checked against the catalogue entry. */
  readonly query: Readonly<Record<string, string>>;
  /** Checked against the catalogue entry; undefined for an operation without a body. */
  readonly body: unknown;
  /** The upstream's clock, Unix time in milliseconds. */
  readonly now: number;
  /** Key that signed the request; absent when a behaviour is called without one. */
  readonly appKey?: string;
}

export type ApiReply = { readonly ok: true; readonly payload: unknown } | Rejection;

export type Behaviour = (call: ApiCall, world: World) => ApiReply;

/** Behaviours by operation id. */
export type Behaviours = Readonly<Record<string, Behaviour>>;

export function answer(payload: unknown): ApiReply {
  return { ok: true, payload };
}
