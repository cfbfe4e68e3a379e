/** `npm run bench`: each comparison within one run, because figures of two runs say nothing of each other. */

import { benchCachedRead } from './cached.ts';
import { benchGateway } from './gateway.ts';
import { benchSigner } from './signer.ts';
import { benchStartUp } from './start-up.ts';

for (const bench of [benchSigner, benchGateway, benchCachedRead, benchStartUp]) {
  await bench();
  console.log('');
}
