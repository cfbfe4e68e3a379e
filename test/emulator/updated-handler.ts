/** The function of instruments as another revision of the code would be: its answers say so. */

import { handler as current } from '../../functions/instruments/handler.ts';

export const handler: typeof current = async (event, context) => {
  const result = await current(event, context);
  return { ...result, headers: { ...result.headers, 'x-revision': '2' } };
};
