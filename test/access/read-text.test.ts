/** Both forms of the port that reads what an issuer publishes. */

import { createNodeText } from '../../functions/aws/node-send.ts';
import { createFetchText } from '../../lib/access/index.ts';
import { readTextContract } from './read-text.contract.ts';

readTextContract('over fetch', () => createFetchText());
readTextContract('over Node’s sockets', () => createNodeText());
