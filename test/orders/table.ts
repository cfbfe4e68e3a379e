/** The journal's table in an emulator, as the stack has it. */

import {
  exposedAttribute,
  exposedIndex,
  unsettledAttribute,
  unsettledIndex,
} from '../../functions/aws/dynamo-order-entries.ts';
import { createTable, keySchema, textAttributes } from '../support/dynamo.ts';

export const createJournalTable = (endpoint: string, tableName: string) =>
  createTable(endpoint, tableName, ['pk'], {
    AttributeDefinitions: textAttributes(['pk', unsettledAttribute, exposedAttribute]),
    GlobalSecondaryIndexes: (
      [
        [unsettledIndex, unsettledAttribute],
        [exposedIndex, exposedAttribute],
      ] as const
    ).map(([IndexName, attribute]) => ({
      IndexName,
      KeySchema: keySchema([attribute, 'pk']),
      Projection: { ProjectionType: 'KEYS_ONLY' },
    })),
  });
