/**
 * Bus of the local run over HTTP: puts entries on it, waits for the replies of lookups, and answers with them. On AWS the
 * entries go to EventBridge, and a rule of the requester delivers the replies.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type CorsOrigins, withCors } from '../../functions/events/cors.ts';
import { toGatewayRequest, toProxyResult } from '../../functions/events/rest-proxy.ts';
import { defaultDeadlineSeconds, eventNames, replySource } from '../../lib/events/names.ts';
import { refusalResponse } from '../../lib/gateway/index.ts';
import { didYouMean } from '../nearest-name.ts';
import { type BusEvent, envelopeOf, type LocalBus, type LocalBusEntry } from './bus.ts';
import { entriesOf } from './bus-entries.ts';
import type { LocalLookups } from './functions.ts';
import type { ProxyHandler } from './invocation.ts';
import type { SettledMessage } from './queue.ts';

interface EventsEndpointOptions {
  readonly bus: LocalBus;
  readonly lookups: Pick<LocalLookups, 'settled'>;
  readonly corsOrigins?: CorsOrigins | undefined;
  /** Milliseconds that a request may wait for its replies. Default 25 s, for which API Gateway waits. */
  readonly waitMs?: number;
}

/**
 * @example
 * const handler = createEventsEndpoint({ bus, lookups });
 * const routes = [{ method: 'POST', path: '/_events', handler }];
 */
export function createEventsEndpoint({
  bus,
  lookups,
  corsOrigins = [],
  waitMs = 25_000,
}: EventsEndpointOptions): ProxyHandler {
  async function answerTo(entries: readonly LocalBusEntry[]): Promise<string> {
    const replies: BusEvent[] = [];
    const unsubscribe = bus.subscribe((event) => {
      if (event.source === replySource) replies.push(event);
    });
    const timer = new AbortController();
    try {
      const events = bus.publish(...entries);
      const over = delay(waitMs, 'over' as const, { signal: timer.signal }).catch(() => 'over' as const);
      const ends = await Promise.all(
        events.map(({ id }) => Promise.race([lookups.settled(id) ?? ('no rule' as const), over])),
      );
      return textOf(events, ends, replies);
    } finally {
      timer.abort();
      unsubscribe();
    }
  }

  return async (event: APIGatewayProxyEvent) => {
    const { requestId, headers } = await toGatewayRequest(event);
    const { body: text, isBase64Encoded } = event;
    const entries = entriesOf(Buffer.from(text ?? '', isBase64Encoded ? 'base64' : 'utf8').toString());
    const { status, body, ...response } =
      'entries' in entries
        ? {
            status: 200,
            headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
            body: Buffer.from(await answerTo(entries.entries)),
          }
        : refusalResponse(entries, requestId, headers.accept);
    return toProxyResult({ status, body, headers: withCors(response.headers, corsOrigins, headers.origin) });
  };
}

interface ReplyDetail {
  readonly request_id?: unknown;
  readonly requester?: unknown;
}

type RequestEnd = SettledMessage | 'no rule' | 'over';

/** JSON with each reply as a rule would hand it on; `unanswered` names the entries without one. */
function textOf(
  events: readonly BusEvent[],
  ends: readonly RequestEnd[],
  published: readonly BusEvent[],
): string {
  const answersOf = (event: BusEvent) => {
    const { request_id } = JSON.parse(event.detail) as ReplyDetail;
    return published.filter(({ detail }) => {
      const reply = JSON.parse(detail) as ReplyDetail;
      return reply.requester === event.source && reply.request_id === request_id;
    });
  };
  const replies = [...new Set(events.flatMap(answersOf))].map(envelopeOf);
  const unanswered = events.flatMap((event, entry) =>
    answersOf(event).length > 0 ? [] : [{ entry, why: whyUnanswered(event, ends[entry] ?? 'over') }],
  );
  const rest = unanswered.length > 0 ? `,"unanswered":${JSON.stringify(unanswered)}` : '';
  return `{"replies":[${replies.join(',')}]${rest}}`;
}

const requestTypes = Object.values(eventNames).map(({ requested }) => requested);

function whyUnanswered({ detailType }: BusEvent, end: RequestEnd): string {
  if (end === 'no rule')
    return `No rule takes its detail-type; requests are ${requestTypes.join(' and ')}.${didYouMean(detailType, requestTypes)}`;
  if (end === 'over')
    return `It still waits, at most until its deadline (deadline_seconds, ${defaultDeadlineSeconds} where it names none); its reply will be on the bus.`;
  if (end.kind === 'done') return 'It was answered before: each request_id of a source has one reply.';
  return `It is a dead letter${end.reason === undefined ? '.' : `, ${end.reason}.`}`;
}
