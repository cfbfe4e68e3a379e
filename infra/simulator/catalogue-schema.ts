/** What the catalogue says of answers, as something to walk through. */

import type { GenericSchema } from 'valibot';

/** What schemas of the catalogue can hold, as valibot lays them out. */
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
