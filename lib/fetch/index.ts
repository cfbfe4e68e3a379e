/**
 * Serves a gateway through the Web's own requests and responses: for workers, Deno, Bun, and frameworks over them.
 *
 * @example
 * const answer = createFetchHandler(gateway);
 */

export type { Sender, ServerOptions } from './answer.ts';
export { createFetchHandler, type FetchHandler } from './fetch-handler.ts';
