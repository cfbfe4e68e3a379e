/** Reports in a sentence each when the upstream stops answering, when quotes become stale, and when either is over. */

import { isRequest, type LogEntry } from '../../functions/log/log.ts';
import type { Attempt, Send } from '../../lib/gateway/index.ts';

export interface Outages {
  /** Wraps the port, and counts its answers and failures. */
  sending(send: Send): Send;
  report(entry: LogEntry): void;
}

/** Failures in a row that count as an outage; a single one may be chance. */
const failuresOfOutage = 2;

/**
 * @example
 * const outages = createOutages(console.log);
 * const send = outages.sending(createNodeSend());
 */
export function createOutages(print: (sentence: string) => void, clock: () => number = Date.now): Outages {
  let failures = 0;
  let downSince: number | undefined;
  let staleSince: number | undefined;
  const seconds = (since: number) => `${Math.max(1, Math.round((clock() - since) / 1000))} s`;

  function hear(result: Attempt): void {
    const failure = failureOf(result);
    if (failure === 'none of it') return;
    if (failure === undefined) {
      if (downSince !== undefined) print(`The upstream answers again, after ${seconds(downSince)}.`);
      failures = 0;
      downSince = undefined;
      return;
    }
    failures++;
    if (failures < failuresOfOutage || downSince !== undefined) return;
    downSince = clock();
    print(`The upstream is away: ${failure}. Quotes grow old until it answers; orders are not sent twice.`);
  }

  return {
    sending: (send) => async (request, limits) => {
      const result = await send(request, limits);
      hear(result);
      return result;
    },
    report(entry) {
      if (!isRequest(entry) || entry.quotesAgeMs === undefined) return;
      if (entry.stale && staleSince === undefined) {
        staleSince = clock();
        print(`Quotes are stale: the oldest that was told is ${Math.round(entry.quotesAgeMs / 1000)} s old.`);
      } else if (!entry.stale && staleSince !== undefined) {
        print(`Quotes are fresh again, after ${seconds(staleSince)}.`);
        staleSince = undefined;
      }
    },
  };
}

/** @returns undefined for an answer; 'none of it' for a result that tells nothing about the upstream */
function failureOf(result: Attempt): string | undefined {
  switch (result.kind) {
    case 'answer':
      return result.status >= 500 ? `it answers ${result.status}` : undefined;
    case 'unreachable':
      return 'no connection to it can be made';
    case 'timeout':
      return 'it gives no answer in time';
    case 'lost':
      return 'it ends connections without an answer';
    default:
      return 'none of it';
  }
}
