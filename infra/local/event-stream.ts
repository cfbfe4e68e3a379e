/**
 * Trade events over HTTP as server-sent events, each as a rule of the bus hands it to a target. A caller follows those of
 * the accounts that it may read orders of, for as long as it may.
 */

import type { ServerResponse } from 'node:http';
import { type CorsOrigins, withCors } from '../../functions/events/cors.ts';
import { getOrder } from '../../lib/catalogue/order-reads.ts';
import { refusalResponse } from '../../lib/gateway/index.ts';
import { isReached, type Reach } from '../../lib/gateway/reach.ts';
import { type AccessOptions, accessStep } from '../../lib/gateway/who.ts';
import { onDemand } from '../../lib/kernel/once.ts';
import { isRefusal, type Refusal, refusalKinds } from '../../lib/problem.ts';
import { envelopeOf } from './bus.ts';
import type { EventHistory, KeptEvent } from './event-history.ts';
import type { LocalStream } from './options.ts';
import type { HttpResponse } from './proxy-result.ts';

export interface EventStreamOptions {
  readonly path: string;
  readonly history: EventHistory;
  /** Who calls, and which accounts they may read; asked for at the first stream. */
  readonly access: () => AccessOptions;
  readonly corsOrigins?: CorsOrigins | undefined;
  /** Between two comments, by which both sides notice that the other is gone. Default 15 s. */
  readonly heartbeatMs?: number;
}

/** A client that does not read is cut off with so much waiting for it, and resumes. */
const maxWaitingBytes = 4 * 1024 * 1024;

/**
 * @example
 * const history = createEventHistory(bus);
 * const streams = [createEventStream({ path: '/_events/stream', history, access })];
 */
export function createEventStream(options: EventStreamOptions): LocalStream {
  const { path, history, access, corsOrigins = [], heartbeatMs = 15_000 } = options;
  const who = onDemand(() => accessStep(access())(Date.now));

  function follow(
    response: ServerResponse,
    reachNow: () => Promise<Reach | Refusal>,
    lastId: string | undefined,
  ): void {
    const write = (text: string) => {
      if (response.writableLength > maxWaitingBytes) response.destroy();
      else response.write(text);
    };
    /** Checks the caller's token and grant for each text, so that the stream sends none after their end. */
    const tell = async (text: string, one?: KeptEvent) => {
      const reach = await reachNow();
      if (response.closed) return;
      if (isRefusal(reach)) response.end(`: ${reach.detail ?? refusalKinds[reach.code].detail}\n\n`);
      else if (!one || isReachedBy(reach, one)) write(text);
    };
    let told = Promise.resolve();
    const inTurn = (text: string, one?: KeptEvent) => {
      told = told.then(() => tell(text, one)).catch(() => void response.destroy());
    };
    if (response.closed) return;
    write('retry: 1000\n: trade events as they come\n\n');
    const follower = {
      receive: (one: KeptEvent) => inTurn(messageOf(one), one),
      closed: () => void told.then(() => response.end()),
    };
    const { end, isWhole } = history.follow(follower, lastId);
    if (!isWhole) write(': the Last-Event-ID is not known here any more: those were all that are kept\n\n');
    const heartbeat = setInterval(() => inTurn(': still here\n\n'), heartbeatMs).unref();
    response.once('close', () => {
      clearInterval(heartbeat);
      end();
    });
  }

  return {
    path,
    headers: ['last-event-id'],
    async open(request) {
      const { headers, requestId } = request;
      const respond = (
        { status, headers: own, body }: ReturnType<typeof refusalResponse>,
        stream?: HttpResponse['stream'],
      ): HttpResponse => ({
        status,
        headers: new Map(
          Object.entries(withCors(own, corsOrigins, headers.origin)).map(([name, value]) => [name, [value]]),
        ),
        body,
        ...(stream && { stream }),
      });
      const reachNow = () => who().identify(getOrder, request, {});
      const reach = await reachNow();
      if (isRefusal(reach)) return respond(refusalResponse(reach, requestId, headers.accept));
      const started = {
        status: 200,
        headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
        body: new Uint8Array(),
      };
      return respond(started, (response) =>
        follow(response, reachNow, headers['last-event-id'] || undefined),
      );
    },
  };
}

/** What names no account may be of any. */
const isReachedBy = (reach: Reach, { account }: KeptEvent): boolean =>
  account === undefined ? reach.scope === 'every' : isReached(reach, account);

/** The upstream's JSON may have line breaks between its members: each line of it is one of `data`. */
const messageOf = ({ id, event }: KeptEvent): string =>
  `id: ${id}\n${envelopeOf(event)
    .split(/\r\n|[\r\n]/)
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;
