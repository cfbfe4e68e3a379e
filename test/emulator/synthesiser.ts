/**
 * The one process that synthesises the stages of all files: to load the CDK and to bundle 17 functions takes far
 * longer than most stages are used. It is told a stack's name and properties as JSON, and answers with the assembly.
 */

import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { StageProps } from './assembly.ts';
import type { Assembly } from './deployment.ts';

const [, , home = ''] = process.argv;

async function answer(asked: string): Promise<Assembly> {
  const { stackName, props } = JSON.parse(asked) as { stackName: string; props: StageProps };
  // Not before it is needed: a run may have no stage at all.
  const { assemble } = await import('./assembly.ts');
  return assemble(home, stackName, props);
}

// One at a time, as they share a folder.
let last: Promise<unknown> = Promise.resolve();
const server = createServer(async (request, response) => {
  const asked = await text(request);
  const answered = last.then(() => answer(asked));
  last = answered.catch(() => {});
  answered.then(
    (assembly) => response.end(JSON.stringify(assembly)),
    (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.stack : String(error)),
  );
});
// Bundling holds this process up for as long as a busy machine takes, and nobody is to be cut off for it.
server.requestTimeout = 0;
server.headersTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
// With the one who started it.
process.stdin.on('close', () => process.exit()).resume();
