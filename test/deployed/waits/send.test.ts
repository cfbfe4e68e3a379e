/** Both ways of sending keep the contract. */

import { createNodeSend } from '../../../functions/aws/node-send.ts';
import { createFetchSend } from '../../../lib/gateway/index.ts';
import { useCalmTime } from '../../world/test-time.ts';
import { sendContract } from '../send.contract.ts';

useCalmTime();

sendContract('fetch', () => createFetchSend());
sendContract('Node', () => createNodeSend());
