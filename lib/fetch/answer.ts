/** What every HTTP server does with a gateway, whatever its requests are objects of. */

import type { Gateway } from '../gateway/core.ts';
import type { GatewayRequest, GatewayResponse } from '../gateway/http.ts';
import { refusalResponse } from '../gateway/render.ts';
import { notSent, type RefusalCode } from '../problem.ts';
import { createSiteCheck } from './site-check.ts';

/** What a server knows of who sends a request, besides its headers. */
export type Sender = Pick<GatewayRequest, 'caller' | 'evidence'>;

/** @typeParam Received what the server gives for a request */
export interface ServerOptions<Received> {
  /** What stands before the operations' paths: `/broker`. Default nothing. */
  readonly basePath?: string;
  /**
   * Who sends a request. `caller` is the unit of fairness (`callerOf` makes one), `evidence` what the server has verified:
   * the id of an API key, an AWS identity, a token's claims. Default nothing: all requests are one caller's, and only a
   * bearer token tells users apart.
   */
  readonly sender?: (request: Received) => Sender | Promise<Sender>;
  /**
   * Names of this server besides `localhost`, such as `broker.example`. A gateway with `access: 'single-user'` answers
   * only requests that are addressed to one of them, or to an IP address, and none from a page of another site.
   */
  readonly hosts?: readonly string[];
  /** How long an answer may take, in milliseconds; a stream takes as long as the gateway lets it. Default 25 seconds. */
  readonly timeoutMs?: number;
  /** The largest body that is read. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** How long a client may take nothing of a stream, in milliseconds, until it is cut off. Default 30 seconds. */
  readonly maxBlockedMs?: number;
  /** Told what failed outside the gateway, such as `sender`. The client gets `gateway_error`. */
  readonly reportFailure?: (error: unknown) => void;
  /** Now, in milliseconds since the epoch, as of the gateway. */
  readonly clock?: () => number;
}

/** The parts of a request, as the server found them. */
export interface ReceivedParts {
  readonly method: string;
  /** Path and query as they were sent, from the first slash on. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the body. */
  readonly body: (maxBytes: number) => Promise<Uint8Array | 'too large'>;
}

/** Resolves with an answer in any case. */
export type Answers<Received> = (received: Received, parts: ReceivedParts) => Promise<GatewayResponse>;

/** A client that takes nothing of a stream for so long is cut off: it is gone, or comes back. */
export const usualBlockedMs = 30_000;

/** The part of a gateway that a server needs. */
export type ServedGateway = Pick<Gateway, 'handle' | 'isSingleUser'>;

/** @throws TypeError for a base path that no request can have */
export function createAnswers<Received>(
  gateway: ServedGateway,
  options: ServerOptions<Received>,
): Answers<Received> {
  const { timeoutMs = 25_000, maxBodyBytes = 1024 * 1024, clock = Date.now } = options;
  const base = (options.basePath ?? '').replace(/\/$/, '');
  if (base !== '' && !base.startsWith('/')) throw new TypeError(`basePath: ${base} does not begin with /`);
  const siteFault = gateway.isSingleUser ? createSiteCheck(options.hosts ?? []) : () => undefined;
  /** Empty for a path that is not below the base: no operation has it. */
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
        // It takes one question mark away.
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
