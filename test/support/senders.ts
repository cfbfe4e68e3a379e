/** Every implementation of the port `Send`: each test of what an answer means runs over all of them. */

import { createNodeSend } from '../../functions/aws/node-send.ts';
import { createFetchSend, type Send } from '../../lib/gateway/index.ts';

export const senders: readonly (readonly [name: string, create: () => Send])[] = [
  ['fetch', createFetchSend],
  ['Node’s client', createNodeSend],
];
