/** A function that says more than a client takes: how much it said is in its log. */

import { streaming } from '../../functions/aws/response-stream.ts';
import { passOn } from '../../functions/events/texts.ts';
import { floodText } from './flood.ts';

function* flood(count: number, said: (index: number) => void) {
  for (let index = 0; index < count; index++) {
    said(index + 1);
    yield Buffer.from(floodText(index));
  }
}

export const handler = streaming(async ({ resource }, _context, open) => {
  let texts = 0;
  const head = { statusCode: 200, headers: { 'content-type': 'text/event-stream', 'x-name': 'value' } };
  const isWhole = await passOn(
    flood(Number(resource), (index) => {
      texts = index;
    }),
    open(head),
    500,
  );
  console.log(JSON.stringify({ texts, isWhole }));
});
