/** A function that says more than a client takes: how much it said is in its log. Or it says two texts, and waits between them. */

import { shareRuntime, streaming } from '../../functions/aws/response-stream.ts';
import { passOn } from '../../functions/events/texts.ts';
import { writeLog } from '../../functions/log/log.ts';
import { floodText } from './flood.ts';

function* flood(count: number, said: (index: number) => void) {
  for (let index = 0; index < count; index++) {
    said(index + 1);
    yield Buffer.from(floodText(index));
  }
}

shareRuntime(process.env, writeLog);

let release = () => {};
const released = new Promise<void>((resolve) => {
  release = resolve;
});

async function* held() {
  yield 'held';
  await released;
  yield ' and released';
}

export const handler = streaming(async ({ resource }, _context, open) => {
  let texts = 0;
  const head = { statusCode: 200, headers: { 'content-type': 'text/event-stream', 'x-name': 'value' } };
  if (resource === 'release') release();
  if (resource === 'hold') return void (await passOn(held(), open(head)));
  const isWhole = await passOn(
    flood(Number(resource) || 1, (index) => {
      texts = index;
    }),
    open(head),
    500,
  );
  console.log(JSON.stringify({ texts, isWhole }));
});
