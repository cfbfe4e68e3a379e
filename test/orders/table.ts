/** The journal's table in an emulator, as the stack has it. */

import {
  begunAttribute,
  exposedAttribute,
  exposedIndex,
  unsettledAttribute,
  unsettledIndex,
} from '../../functions/aws/dynamo-order-entries.ts';
import { createTable, keySchema, textAttributes } from '../support/dynamo.ts';

export const createJournalTable = (endpoint: string, tableName: string) =>
  createTable(endpoint, tableName, ['pk'], {
    AttributeDefinitions: [
      ...textAttributes(['pk', unsettledAttribute, exposedAttribute]),
      { AttributeName: begunAttribute, AttributeType: 'N' },
    ],
    GlobalSecondaryIndexes: (
      [
        [unsettledIndex, unsettledAttribute],
        [exposedIndex, exposedAttribute],
      ] as const
    ).map(([IndexName, attribute]) => ({
      IndexName,
      KeySchema: keySchema([attribute, begunAttribute]),
      Projection: { ProjectionType: 'KEYS_ONLY' },
    })),
  });
