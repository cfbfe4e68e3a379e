/** The ports that are deployed, in this process: over the emulator's DynamoDB, Secrets Manager, EventBridge and SQS. */

import {
  type AttributeDefinition,
  CreateTableCommand,
  DynamoDBClient,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  type LocalSecondaryIndex,
} from '@aws-sdk/client-dynamodb';
import { CreateEventBusCommand, EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { createDynamoAccessStore } from '../../functions/aws/dynamo-access-store.ts';
import { createDynamoClient } from '../../functions/aws/dynamo-client.ts';
import { createDynamoOrderAudit } from '../../functions/aws/dynamo-order-audit.ts';
import { marketStreamPorts } from '../../functions/aws/market-stream-ports.ts';
import { orderAuditHandler } from '../../functions/aws/order-audit.ts';
import {
  massCancelPorts,
  orderAuditPorts,
  orderPorts,
  orderStreamPorts,
  settlementPorts,
  tradeEventPorts,
  tradingStopPorts,
} from '../../functions/aws/order-ports.ts';
import { lookupPorts, streamPorts } from '../../functions/aws/ports.ts';
import type { ComposedAudit } from '../../functions/compose/order-audit.ts';
import type { Host } from '../../functions/compose/ports.ts';
import { createIdentity } from '../../lib/access/identity.ts';
import { onDemand } from '../../lib/kernel/once.ts';
import { whoOrderedWhat } from '../../lib/orders/who-ordered-what.ts';
import { clientConfig } from '../emulator/deployment.ts';
import { collectReplies } from '../emulator/replies.ts';
import { synthesise } from '../stack/synthesise.ts';
import type { Ministack } from '../support/ministack.ts';
import { copyOfTable, type Item, itemsOf } from '../world/dynamo.ts';
import { identityKey, type Platform, platformNames, secrets } from './scene.ts';

/** Tables as the stack has them, by the beginning of their logical ids. */
const tables: Readonly<Record<string, string>> = {
  Budget: platformNames.limiter,
  Cache: platformNames.cache,
  Users: platformNames.access,
  OrderJournal: platformNames.journal,
  OrderAudit: platformNames.audit,
  TradingControls: platformNames.controls,
  Lookups: platformNames.lookups,
  TradeEventHistory: platformNames.history,
  TradeEvents: platformNames.events,
};
const buses = [platformNames.lookupBus, platformNames.eventsBus, platformNames.ordersBus];

interface TableProperties {
  readonly AttributeDefinitions: AttributeDefinition[];
  readonly KeySchema: KeySchemaElement[];
  readonly GlobalSecondaryIndexes?: GlobalSecondaryIndex[];
  readonly LocalSecondaryIndexes?: LocalSecondaryIndex[];
}

const stackTables = onDemand(() =>
  synthesise({
    groups: { orders: 'iam' },
    trading: { limits: 'none' },
    events: {},
    tradeEvents: {},
    live: { maxOrderStreams: 5 },
  }).all('AWS::DynamoDB::Table'),
);

/** What the stack would make. */
export async function makeResources(emulator: Ministack): Promise<void> {
  const config = clientConfig(emulator);
  const dynamo = new DynamoDBClient(config);
  for (const [id, { Properties }] of stackTables()) {
    const name = Object.keys(tables).find((one) => id.startsWith(one));
    if (name === undefined) throw new Error(`${id} is a table that no scenario knows`);
    const { AttributeDefinitions, KeySchema, ...indexes } = Properties as unknown as TableProperties;
    const { GlobalSecondaryIndexes, LocalSecondaryIndexes } = indexes;
    await dynamo.send(
      new CreateTableCommand({
        TableName: tables[name],
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions,
        KeySchema,
        GlobalSecondaryIndexes,
        LocalSecondaryIndexes,
      }),
    );
  }
  const events = new EventBridgeClient(config);
  for (const Name of buses) await events.send(new CreateEventBusCommand({ Name }));
  const manager = new SecretsManagerClient(config);
  for (const [Name, SecretString] of Object.entries(secrets))
    await manager.send(new CreateSecretCommand({ Name, SecretString }));
}

export const enginePlatform =
  (emulator: Ministack) =>
  async (host: Host): Promise<Platform> => {
    const client = createDynamoClient();
    const { sealer } = createIdentity(async () => identityKey);
    const replies = new Map(
      await Promise.all(
        buses.map(async (name) => {
          const stage = { emulator, outputs: { LookupBus: name } };
          return [name, await collectReplies(stage, {}, name)] as const;
        }),
      ),
    );
    let audit: ComposedAudit | undefined;
    const streamed = journalStream(emulator.endpoint);
    const takeStream = async () => {
      const { batchItemFailures } = await orderAuditHandler(audit, host.log)({ Records: await streamed() });
      if (batchItemFailures.length > 0) throw new Error('the audit did not take all changes');
    };
    return {
      ports: {
        ...orderPorts(host),
        ...streamPorts(host),
        ...lookupPorts(host),
        ...massCancelPorts(host),
        ...settlementPorts(host),
        ...tradeEventPorts(host),
        ...orderStreamPorts(host),
        ...marketStreamPorts(host),
        ...orderAuditPorts(host),
        ...tradingStopPorts(host),
      },
      access: createDynamoAccessStore({ client, tableName: platformNames.access }),
      ready: async () => {},
      follow(composed) {
        audit = composed;
      },
      async audited() {
        await takeStream();
        const store = createDynamoOrderAudit({ client, tableName: platformNames.audit, sealer });
        return (await whoOrderedWhat(store.read(Date.now() - 3_600_000, Date.now() + 3_600_000))).ordered;
      },
      async published(name) {
        if (name === platformNames.ordersBus) await takeStream();
        const collected = replies.get(name);
        // The emulator hands an event on a moment later.
        await new Promise((resolve) => setTimeout(resolve, 100));
        await collected?.read();
        return (collected?.events ?? []).map(({ 'detail-type': type, detail }) => ({ type, detail }));
      },
      copyOf: (table) =>
        copyOfTable(emulator.endpoint, { ...platformNames, users: platformNames.access }[table]),
      close: async () => {},
    };
  };

/** What changed in the journal’s table since the last call, as its stream has it. */
function journalStream(endpoint: string): () => Promise<DynamoDBRecord[]> {
  let known = new Map<string, Item>();
  let count = 0;
  return async () => {
    const items = await itemsOf(endpoint, platformNames.journal);
    const now = new Map(items.map((item) => [item.pk?.S ?? '', item]));
    const records = [...now].flatMap(([key, after]): DynamoDBRecord[] => {
      const before = known.get(key);
      if (before && JSON.stringify(before) === JSON.stringify(after)) return [];
      return [
        {
          eventName: before ? 'MODIFY' : 'INSERT',
          dynamodb: {
            SequenceNumber: String(++count).padStart(21, '1'),
            ApproximateCreationDateTime: Date.now() / 1000,
            NewImage: asStreamed(after),
            ...(before && { OldImage: asStreamed(before) }),
          },
        },
      ];
    });
    known = now;
    return records;
  };
}

/** Lambda hands bytes over as Base64. */
const asStreamed = (item: Item) =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      (value.B ? { B: Buffer.from(value.B).toString('base64') } : value) as AttributeValue,
    ]),
  );
