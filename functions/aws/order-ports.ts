/** Ports on AWS for functions that send, read or settle orders, stream their events, or stop them. */

import { createStoreTime } from '../../lib/guard-rails/store-time.ts';
import type {
  Host,
  JournalPorts,
  MassCancelPorts,
  OrderAuditPorts,
  OrderPorts,
  OrderStreamPorts,
  SettlementPorts,
  TradeEventPorts,
  TradingStopPorts,
} from '../compose/ports.ts';
import { createDynamoCheckpoints } from './dynamo-checkpoints.ts';
import { createDynamoControlAdmin } from './dynamo-control-admin.ts';
import { createDynamoEventHistory } from './dynamo-event-history.ts';
import { createDynamoMassCancelRequests } from './dynamo-mass-cancel-requests.ts';
import { createDynamoMassCancels } from './dynamo-mass-cancels.ts';
import { createDynamoOrderAudit } from './dynamo-order-audit.ts';
import { createDynamoOrderJournal } from './dynamo-order-journal.ts';
import { createDynamoRecovery } from './dynamo-recovered-entries.ts';
import { createDynamoSnapshotReads } from './dynamo-snapshot-reads.ts';
import { createDynamoStreamStore } from './dynamo-stream-store.ts';
import { createDynamoTradeEventStore } from './dynamo-trade-event-store.ts';
import { createDynamoControls } from './dynamo-trading-controls.ts';
import { createGrpcTransport } from './grpc-transport.ts';
import { bus, type Client, gatewayPorts, newClient, secretPorts } from './ports.ts';
import { storePartition } from './snapshot-keys.ts';

export const journalPorts = (host: Host, client = newClient(host)): JournalPorts => ({
  ...gatewayPorts(host, client),
  journal: (tableName, sealer) => createDynamoOrderJournal({ client: client(), tableName, sealer }),
});

export function settlementPorts(host: Host): SettlementPorts {
  const client = newClient(host);
  return {
    ...journalPorts(host, client),
    checkpoints: (tables) => createDynamoCheckpoints({ client: client(), tables }),
    recovery: (tableName, sealer) => createDynamoRecovery({ client: client(), tableName, sealer }),
    auditLines: (tableName, sealer) => createDynamoOrderAudit({ client: client(), tableName, sealer }),
  };
}

export function orderPorts(host: Host, given?: Client): OrderPorts {
  const time = createStoreTime(host.clock);
  const client = given ?? newClient(host, time);
  return {
    ...journalPorts(host, client),
    storeTime: time.now,
    controls: (tableName, others) => createDynamoControls({ client: client(), tableName, others }),
    massCancelRequests: (tableName) => createDynamoMassCancelRequests({ client: client(), tableName }),
    snapshotReads: (tableName, upstream, partition) =>
      createDynamoSnapshotReads({
        client: client(),
        tableName,
        partition: storePartition(upstream, partition),
      }),
  };
}

export function massCancelPorts(host: Host): MassCancelPorts {
  const client = newClient(host);
  return {
    ...journalPorts(host, client),
    massCancels: (tableName) => createDynamoMassCancels({ client: client(), tableName }),
  };
}

export function tradeEventPorts(host: Host): TradeEventPorts {
  const client = newClient(host);
  const { clock } = host;
  return {
    ...gatewayPorts(host, client),
    bus,
    transport: (url) => createGrpcTransport({ url }),
    eventStore: (tableName, sealer) =>
      createDynamoTradeEventStore({ client: client(), tableName, sealer, clock }),
    eventHistory: (tableName, sealer) => createDynamoEventHistory({ client: client(), tableName, sealer }),
  };
}

export const orderAuditPorts = (host: Host, client = newClient(host)): OrderAuditPorts => ({
  ...secretPorts(host),
  bus,
  auditStore: (tableName, sealer) => createDynamoOrderAudit({ client: client(), tableName, sealer }),
});

export const tradingStopPorts = (host: Host, client = newClient(host)): TradingStopPorts => ({
  ...secretPorts(host),
  controlAdmin: (tableName) => createDynamoControlAdmin({ client: client(), tableName }),
});

export function orderStreamPorts(host: Host): OrderStreamPorts {
  const client = newClient(host);
  return {
    ...gatewayPorts(host, client),
    eventHistory: (tableName, sealer) => createDynamoEventHistory({ client: client(), tableName, sealer }),
    streams: (tableName, partition) => createDynamoStreamStore({ client: client(), tableName, partition }),
  };
}
