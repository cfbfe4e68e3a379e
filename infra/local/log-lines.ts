/** Turns log entries of the functions into lines for a person at the console. */

import { isRequest, type LogEntry } from '../../functions/log/log.ts';
import type { RateLimitReport } from '../../lib/gateway/index.ts';
import type { SeenRequest } from './request-log.ts';
import { plainText } from './trade-event-lines.ts';

/** Line for a request; a refusal has its code, its sentence, and a link to the page's details on the request. */
export function accessLine(
  { requestId, method, path, status, milliseconds, refusal }: SeenRequest,
  { url, canLink }: { readonly url: string; readonly canLink: boolean },
): string {
  const link = `${url}/#request=${requestId}`;
  const line = `${method} ${path} ${status} ${milliseconds} ms`;
  if (refusal)
    return `${line}\n  ${refusal.code}: ${oneLine(refusal.detail)}\n  request ${requestId}: ${link}`;
  return canLink ? hyperlink(line, link) : line;
}

/** Makes a text in a terminal open an address when clicked (OSC 8). */
const hyperlink = (text: string, address: string) => `\u001b]8;;${address}\u001b\\${text}\u001b]8;;\u001b\\`;

/** Makes one line of a text that may contain a client's input, without characters that move the cursor. */
const oneLine = (text: string) => text.replace(/\p{Cc}/gu, ' ').slice(0, 600);

/** @returns undefined for an entry without a problem */
export function lineOf(entry: LogEntry): string | undefined {
  if (isRequest(entry)) {
    const { status, code, upstreamStatus, upstreamCode, defect } = entry;
    const isUpstreams = upstreamStatus !== undefined || (code && status >= 500);
    const answered =
      `  ${code}: upstream answered ${upstreamStatus ?? 'nothing'} ${upstreamCode ?? ''}`.trimEnd();
    return (
      [isUpstreams && answered, defect !== undefined && JSON.stringify(defect)].filter(Boolean).join('\n') ||
      undefined
    );
  }
  const { level, event, ...facts } = entry;
  if (event === 'upstream_rate_limited') {
    const verdict = verdicts[facts.verdict as RateLimitReport['verdict']];
    return `The upstream answered 429 to ${facts.operation}: ${verdict} The limits in force are ${facts.kept}.`;
  }
  if (event === 'trade_stream_ended') {
    const end = streamEnds[String(facts.reason)];
    return end && `Trade events: the stream ${end}.`;
  }
  if (event === 'wrong_configuration') return `The configuration is wrong: ${facts.faults}`;
  if (level === 'info' || reportedElsewhere.includes(event)) return undefined;
  const { step, check, scope, result, status, code, name } = facts;
  const words = [event.replaceAll('_', ' '), step, check, scope, result, status ?? code ?? name].filter(
    (word) => word !== undefined,
  );
  return `${words.map(plainText).join(': ')}.`;
}

/** Events that another line reports, or a later one. */
const reportedElsewhere: readonly string[] = ['limits_in_force', 'turn_failed', 'trade_orders_compared'];

const verdicts: Readonly<Record<RateLimitReport['verdict'], string>> = {
  tightened: 'it allows less than UPSTREAM_LIMITS, so this run keeps tighter limits until it ends.',
  not_ours:
    'this run sent less than any preset allows, so others use the app key, or the address is blocked.',
  none_tighter: 'no preset is tighter for it.',
};

const streamEnds: Readonly<Record<string, string>> = {
  broken: 'broke; the next one is opened',
  silent: 'was silent for too long; the next one is opened',
  mute: 'did not tell what a read has found; the next one is opened',
  authentication_error: 'was refused: the upstream does not take the app key or its secret',
  too_many_connections:
    'was refused: another client has one open; the next one is opened in a minute or more',
};
