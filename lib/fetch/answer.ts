/** Answers HTTP requests with a gateway: the part that is the same for every server and request type. */

import type { Gateway } from '../gateway/core.ts';
import type { GatewayRequest, GatewayResponse } from '../gateway/http.ts';
import { refusalResponse } from '../gateway/render.ts';
import { notSent, type RefusalCode } from '../problem.ts';
import { createSiteCheck } from './site-check.ts';

/** The server's knowledge of a request's sender, besides the headers. */
export type Sender = Pick<GatewayRequest, 'caller' | 'evidence'>;

/** @typeParam Received the server's own request object */
export interface ServerOptions<Received> {
  /** Prefix of the operations' paths, such as `/broker`. Default none. */
  readonly basePath?: string;
  /**
   * Identifies the sender of a request. `caller` is the unit of fairness (`callerOf` makes one), `evidence` the facts that
   * the server has verified: the id of an API key, an AWS identity, a token's claims. Default none: all requests belong to
   * one caller, and only a bearer token distinguishes users.
   */
  readonly sender?: (request: Received) => Sender | Promise<Sender>;
  /**
   * Names of this server besides `localhost`, such as `broker.example`. A gateway with `access: 'single-user'` answers
   * only requests that are addressed to one of them, or to an IP address, and none from a page of another site.
   */
  readonly hosts?: readonly string[];
  /** Time limit of an answer, in milliseconds. Default 25 seconds. The gateway itself limits streams. */
  readonly timeoutMs?: number;
  /** Size of the largest body that is accepted. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Time after which a client that reads nothing of its stream is cut off, in milliseconds. Default 30 seconds. */
  readonly maxBlockedMs?: number;
  /** Called with an error from outside the gateway, such as one of `sender`. The client gets `gateway_error`. */
  readonly reportFailure?: (error: unknown) => void;
  /** Now, in milliseconds since the epoch. Give the gateway's own clock. */
  readonly clock?: () => number;
}

/** The parts of a request, as the server found them. */
interface ReceivedParts {
  readonly method: string;
  /** Path and query as they were sent, from the first slash on. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: (maxBytes: number) => Promise<Uint8Array | 'too large'>;
}

/** Answers a request; never rejects. */
type RequestHandler<Received> = (received: Received, parts: ReceivedParts) => Promise<GatewayResponse>;

/** Default of `maxBlockedMs`: a client that reads nothing for that long is gone, or connects again. */
export const usualBlockedMs = 30_000;

/** The part of a gateway that a server needs. */
export type ServedGateway = Pick<Gateway, 'handle' | 'isSingleUser'>;

/** @throws TypeError for a base path that no request can have */
export function createAnswers<Received>(
  gateway: ServedGateway,
  options: ServerOptions<Received>,
): RequestHandler<Received> {
  const { timeoutMs = 25_000, maxBodyBytes = 1024 * 1024, clock = Date.now } = options;
  const base = (options.basePath ?? '').replace(/\/$/, '');
  if (base !== '' && !base.startsWith('/')) throw new TypeError(`basePath: ${base} does not begin with /`);
  const siteFault = gateway.isSingleUser ? createSiteCheck(options.hosts ?? []) : () => undefined;
  /** Removes the base path. A path that is not below it becomes empty, which no operation has. */
  const within = (path: string) => (path.startsWith(`${base}/`) ? path.slice(base.length) : '');

  return async (received, { method, target, headers, body }) => {
    const requestId = crypto.randomUUID();
    const refuse = (code: RefusalCode, detail?: string) =>
      refusalResponse({ code, ...(detail && { detail }) }, requestId, headers.accept);
    const deadline = clock() + timeoutMs;
    try {
      const read = await body(maxBodyBytes);
      const stranger = siteFault(headers);
      if (stranger) return refuse('forbidden', `${stranger} ${notSent}`);
      if (read === 'too large') return refuse('payload_too_large');
      const [path = '', ...query] = target.split('?');
      return await gateway.handle({
        method,
        path: within(path),
        // URLSearchParams drops one leading question mark, which may belong to the query.
        query: [...new URLSearchParams(`?${query.join('?')}`)],
        headers,
        requestId,
        deadline,
        streamDeadline: Number.POSITIVE_INFINITY,
        ...(read.length > 0 && { body: read }),
        ...(await options.sender?.(received)),
      });
    } catch (error) {
      options.reportFailure?.(error);
      return refuse('gateway_error');
    }
  };
}
