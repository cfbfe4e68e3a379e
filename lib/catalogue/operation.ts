/** What an operation is: the one description that everything else in the project is derived from. */

import type { GenericSchema } from 'valibot';
import type { Group } from './groups.ts';
import type { LimitName } from './limits.ts';
import type { Parameter } from './parameters.ts';

/** Where a fact comes from, strongest first: the interface text wins every conflict. */
export type Source = 'interface' | 'vendor-sdk' | 'vendor-docs' | 'inferred';

export interface Operation {
  /** Stable name; also the client's method name and the OpenAPI operation id. */
  readonly id: string;
  readonly group: Group;
  readonly title: string;
  readonly method: 'GET' | 'POST';
  /** The path that the interface text shows, or else the current version's. */
  readonly path: string;
  /** Other paths of the same operation, with the same method and parameters. */
  readonly aliases: readonly string[];
  readonly query: Readonly<Record<string, Parameter>>;
  /** The operation takes query parameters that no source names. */
  readonly anyQuery?: true;
  /** Present exactly when the operation takes a JSON body. */
  readonly body?: GenericSchema;
  /** Request headers of the client that are forwarded, in lower case; none of them is signed. */
  readonly headers?: readonly string[];
  /** Types and documents the answer; it never refuses one. */
  readonly response: GenericSchema;
  /** The upstream limit that a request counts against. */
  readonly limit?: LimitName;
  /**
   * Present when a request changes state at the upstream, so that it is sent at most once. `findOut` says
   * how a caller learns what became of it when the answer is lost.
   */
  readonly sideEffect?: { readonly findOut: string };
  /** Where the path, the parameters and the answer come from. */
  readonly sources: {
    readonly path: readonly Source[];
    readonly request: readonly Source[];
    readonly response: readonly Source[];
  };
  /** What was decided where sources conflict or are silent. */
  readonly decisions?: readonly string[];
}

/** Makes the `operation` function of one group's file, so that an entry does not repeat its group. */
export function inGroup<const G extends Group>(group: G) {
  return <const O extends Omit<Operation, 'group'>>(entry: O): O & { readonly group: G } => ({
    ...entry,
    group,
  });
}
