/** Numbers as DynamoDB takes them: as text, and in whole seconds where they are its time to live. */

import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** @param value is rounded: all that the stores count and every moment is whole */
export const number = (value: number): AttributeValue.NMember => ({ N: String(Math.round(value)) });

/** @param ms since the epoch; never earlier than that */
export const seconds = (ms: number): AttributeValue.NMember => number(Math.ceil(ms / 1000));
