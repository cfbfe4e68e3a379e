/** A gateway as a function from a Web request to a Web response. */

import { readAtMost } from '../gateway/send.ts';
import { createAnswers, type ServedGateway, type ServerOptions, usualBlockedMs } from './answer.ts';

export type FetchHandler = (request: Request) => Promise<Response>;

/** Statuses whose response may have no body, not even an empty one. */
const bodiless: readonly number[] = [204, 205, 304];

/**
 * Makes a handler for workers, Deno, Bun, Hono and other runtimes that call a function with a Web request. The gateway's
 * `access` and the code in front decide who may call. With `single-user`, `hosts` keeps pages of other sites out.
 *
 * @throws TypeError for a base path that does not begin with a slash
 *
 * @example
 * const answer = createFetchHandler(createGateway({ operations, upstreamBaseUrl, secrets }));
 * // Deno.serve(answer); Bun.serve({ fetch: answer }); export default { fetch: answer };
 * const response = await answer(new Request('https://api.example.com/trading/accounts/list'));
 */
export function createFetchHandler(
  gateway: ServedGateway,
  options: ServerOptions<Request> = {},
): FetchHandler {
  const answer = createAnswers(gateway, options);
  return async (request) => {
    const { pathname, search, host } = new URL(request.url);
    const { status, headers, body, stream } = await answer(request, {
      method: request.method,
      target: pathname + search,
      // A runtime may hide the header Host; the URL has its value.
      headers: { host, ...Object.fromEntries(request.headers) },
      body: async (maxBytes) => (await readAtMost(request, maxBytes)) ?? 'too large',
    });
    const content = stream ? bytesOf(stream, options.maxBlockedMs) : bodiless.includes(status) ? null : body;
    return new Response(content as BodyInit | null, { status, headers });
  };
}

/** Converts texts to a byte stream. It asks for the next text when the client has read the last one. */
function bytesOf(texts: AsyncIterable<string>, blockedMs = usualBlockedMs): ReadableStream<Uint8Array> {
  const iterator = texts[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let impatience: ReturnType<typeof setTimeout> | undefined;
  const end = () => void iterator.return?.().catch(() => {});
  return new ReadableStream({
    async pull(controller) {
      clearTimeout(impatience);
      const next = await iterator.next();
      if (next.done) return controller.close();
      controller.enqueue(encoder.encode(next.value));
      impatience = setTimeout(() => {
        controller.error(new Error('the client took nothing'));
        end();
      }, blockedMs);
    },
    cancel() {
      clearTimeout(impatience);
      end();
    },
  });
}
