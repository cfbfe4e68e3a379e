/** Shape of the catalogue's response schemas, for code that walks through them. */

import type { GenericSchema } from 'valibot';

/** Members of valibot's schemas that the catalogue uses. */
export interface Schema extends GenericSchema {
  readonly entries?: Readonly<Record<string, Schema>>;
  readonly item?: Schema;
  readonly items?: readonly Schema[];
  readonly key?: Schema;
  readonly value?: Schema;
  readonly wrapped?: Schema;
  readonly literal?: unknown;
  readonly options?: readonly unknown[];
  readonly pipe?: readonly {
    readonly kind: string;
    readonly type: string;
    readonly requirement?: unknown;
    readonly metadata?: unknown;
  }[];
}
