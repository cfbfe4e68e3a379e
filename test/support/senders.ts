/** Every implementation of the port `Send`: whatever is said of an answer's meaning holds over each. */

import { createNodeSend } from '../../functions/aws/node-send.ts';
import { createFetchSend, type Send } from '../../lib/gateway/index.ts';

export const senders: readonly (readonly [name: string, create: () => Send])[] = [
  ['fetch', createFetchSend],
  ['Node’s client', createNodeSend],
];
