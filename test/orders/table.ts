/** The journal's table, as the stack has it. */

import {
  exposedAttribute,
  exposedIndex,
  unsettledAttribute,
  unsettledIndex,
} from '../../functions/aws/dynamo-order-entries.ts';
import { keySchema, textAttributes } from '../world/dynamo.ts';

/** Its keys, and what else it is made with. */
export const journalTable = [
  ['pk'],
  {
    AttributeDefinitions: textAttributes(['pk', unsettledAttribute, exposedAttribute]),
    GlobalSecondaryIndexes: (
      [
        [unsettledIndex, unsettledAttribute],
        [exposedIndex, exposedAttribute],
      ] as const
    ).map(([IndexName, attribute]) => ({
      IndexName,
      KeySchema: keySchema([attribute, 'pk']),
      Projection: { ProjectionType: 'KEYS_ONLY' as const },
    })),
  },
] as const;
