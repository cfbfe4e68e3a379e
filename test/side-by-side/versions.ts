/** Two versions of the functions: that of an earlier commit, and that of today as it is or with a defect. */

import type * as accessStore from '../../functions/aws/dynamo-access-store.ts';
import type * as checkpoints from '../../functions/aws/dynamo-checkpoints.ts';
import type * as controlAdmin from '../../functions/aws/dynamo-control-admin.ts';
import type * as directoryStore from '../../functions/aws/dynamo-directory-store.ts';
import type * as limiterStore from '../../functions/aws/dynamo-limiter-store.ts';
import type * as lookupStore from '../../functions/aws/dynamo-lookup-store.ts';
import type * as massCancelRequests from '../../functions/aws/dynamo-mass-cancel-requests.ts';
import type * as massCancels from '../../functions/aws/dynamo-mass-cancels.ts';
import type * as orderAudit from '../../functions/aws/dynamo-order-audit.ts';
import type * as orderJournal from '../../functions/aws/dynamo-order-journal.ts';
import type * as recovery from '../../functions/aws/dynamo-recovered-entries.ts';
import type * as responseStore from '../../functions/aws/dynamo-response-store.ts';
import type * as snapshotReads from '../../functions/aws/dynamo-snapshot-reads.ts';
import type * as snapshotStore from '../../functions/aws/dynamo-snapshot-store.ts';
import type * as streamStore from '../../functions/aws/dynamo-stream-store.ts';
import type * as tradeEventStore from '../../functions/aws/dynamo-trade-event-store.ts';
import type * as controls from '../../functions/aws/dynamo-trading-controls.ts';
import type * as snapshotKeys from '../../functions/aws/snapshot-keys.ts';
import type * as functions from '../../functions/compose/functions.ts';
import type * as offers from '../../functions/compose/offers.ts';
import type * as orderOffers from '../../functions/compose/order-offers.ts';
import type * as accessAdmin from '../../lib/access/admin.ts';
import type * as identity from '../../lib/access/identity.ts';
import type * as controlsAdmin from '../../lib/guard-rails/admin.ts';
import { bundle, load, replaceIn } from '../support/bundle.ts';
import { ofCommit } from '../support/earlier.ts';

type Stores = typeof accessStore &
  typeof controlAdmin &
  typeof controls &
  typeof directoryStore &
  typeof limiterStore &
  typeof lookupStore &
  typeof massCancelRequests &
  typeof massCancels &
  typeof orderAudit &
  typeof orderJournal &
  typeof responseStore &
  typeof snapshotReads &
  typeof snapshotStore &
  typeof streamStore &
  typeof tradeEventStore;

type Compositions = Pick<typeof functions, 'group' | 'settlement' | 'start'> & {
  readonly offers: typeof offers & typeof orderOffers;
};

/** Of both versions. */
export type Version = Stores &
  Compositions &
  typeof snapshotKeys &
  Pick<typeof identity, 'createIdentity'> &
  Pick<typeof accessAdmin, 'createAccessAdmin'> &
  Pick<typeof controlsAdmin, 'createControlAdmin'> &
  Partial<typeof checkpoints & typeof recovery>;

const stores = [
  'access-store',
  'control-admin',
  'directory-store',
  'limiter-store',
  'lookup-store',
  'mass-cancel-requests',
  'mass-cancels',
  'order-audit',
  'order-journal',
  'response-store',
  'snapshot-reads',
  'snapshot-store',
  'stream-store',
  'trade-event-store',
  'trading-controls',
];
/** That the earlier one does not have. */
const newStores = ['checkpoints', 'recovered-entries'];

const codeOf = (names: readonly string[]) => `
  ${names.map((name) => `export * from './functions/aws/dynamo-${name}.ts';`).join('\n')}
  export * from './functions/aws/snapshot-keys.ts';
  export { createIdentity } from './lib/access/identity.ts';
  export { createAccessAdmin } from './lib/access/admin.ts';
  export { createControlAdmin } from './lib/guard-rails/admin.ts';
  import * as facts from './functions/compose/offers.ts';
  import * as ofOrders from './functions/compose/order-offers.ts';
  export { group, settlement, start } from './functions/compose/functions.ts';
  export const offers = { ...facts, ...ofOrders };`;

export const earlierVersion = async (): Promise<Version> => (await ofCommit(codeOf(stores))) as Version;

/** A text of one source file, and what a defect puts in its place. */
export interface Defect {
  readonly defect: string;
  readonly file: string;
  readonly find: string;
  readonly by: string;
}

export async function versionOfToday(defect?: Defect): Promise<Version> {
  const plugins = defect ? [replaceIn(defect.file, defect.find, defect.by)] : [];
  const { text } = await bundle(codeOf([...stores, ...newStores]), { plugins, platform: 'node' });
  return (await load(text)) as Version;
}
