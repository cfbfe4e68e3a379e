/** Last requests of a local run: how each was answered and why, how long it waited, and what was sent upstream for it. */

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ExplainedRequest, SentUpstream } from '../local/request-log.ts';
import { CopyCall } from './copy.tsx';
import { type ApiCall, clock, isLocal } from './gateway.ts';
import { requests } from './local.ts';

const chosen = signal('');
const onlyFailed = signal(false);

/** Reads the request id from a link of the console. */
const idIn = (hash: string) => new URLSearchParams(hash.slice(1)).get('request') ?? '';
/** Request that a link led to, until it is in view. */
let linkedId = '';

export function Requests() {
  useEffect(() => {
    const look = () => {
      linkedId = idIn(location.hash);
      chosen.value = linkedId || chosen.value;
    };
    look();
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, []);
  const one = isLocal.value ? requests.value.find(({ requestId }) => requestId === chosen.value) : undefined;
  useEffect(() => {
    if (!one || one.requestId !== linkedId) return;
    linkedId = '';
    document.getElementById('details')?.scrollIntoView();
  }, [one?.requestId]);
  if (!isLocal.value) return null;
  const list = requests.value.filter(({ status }) => !onlyFailed.value || status >= 400);
  return (
    <section id="requests" aria-labelledby="requests-title" class="full">
      <h2 id="requests-title">Requests</h2>
      <label>
        <input
          type="checkbox"
          checked={onlyFailed.value}
          onChange={(event) => (onlyFailed.value = event.currentTarget.checked)}
        />
        only those that failed
      </label>
      <div class="beside">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <section class="scroll tall bare" tabIndex={0} aria-label="The last 200 requests">
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Request</th>
                <th scope="col">Answer</th>
                <th scope="col" class="number">
                  ms
                </th>
              </tr>
            </thead>
            <tbody>
              {list.map((seen) => (
                <Line key={seen.requestId} seen={seen} />
              ))}
            </tbody>
          </table>
        </section>
        {one ? (
          <Details seen={one} />
        ) : (
          <p class="quiet">
            {chosen.value ? `The request ${chosen.value} is not among the last 200 of this run. ` : ''}
            Choose a request to see why it was answered so.
          </p>
        )}
      </div>
    </section>
  );
}

function Line({
  seen: { requestId, at, method, path, status, milliseconds, refusal },
}: {
  readonly seen: ExplainedRequest;
}) {
  return (
    <tr
      class={status >= 500 ? 'failed' : status >= 400 ? 'refused' : ''}
      aria-current={requestId === chosen.value}
    >
      <td>{clock(at)}</td>
      <td>
        <a
          href={`#request=${requestId}`}
          data-request={requestId}
          onClick={(event) => {
            event.preventDefault();
            chosen.value = requestId;
            history.replaceState(null, '', `#request=${requestId}`);
          }}
        >
          {method} {path}
        </a>
      </td>
      <td>
        {status} {refusal?.code}
      </td>
      <td class="number">{milliseconds}</td>
    </tr>
  );
}

const callOf = (path: string, query: string): ApiCall => ({
  method: 'GET',
  path,
  query: Object.fromEntries(new URLSearchParams(query)),
});

function Details({ seen }: { readonly seen: ExplainedRequest }) {
  const { requestId, method, path, query, status, refusal, report = {}, apiKeyId, sent } = seen;
  const facts: readonly (readonly [string, unknown])[] = [
    ['request id', requestId],
    ['query', query.replaceAll('&', '\n')],
    ['key', apiKeyId ?? 'none that is known'],
    ['operation', report.operation],
    ['waited for a permit', report.waitedMs === undefined ? undefined : `${report.waitedMs} ms`],
    ['cache', report.cache === undefined ? undefined : JSON.stringify(report.cache)],
    [
      'oldest quote',
      report.quotesAgeMs === undefined
        ? undefined
        : `${report.quotesAgeMs} ms${report.stale ? ', stale' : ''}`,
    ],
    [
      'the upstream answered',
      report.upstreamStatus && `${report.upstreamStatus} ${report.upstreamCode ?? ''}`,
    ],
  ];
  return (
    <article aria-label={`Request ${requestId}`} id="details">
      <h3>
        {method} {path} → {status} {/* A request with its account's id left out cannot be repeated. */}
        {method === 'GET' && !query.includes('…') && (
          <CopyCall call={callOf(path, query)} what="this request" />
        )}
      </h3>
      {refusal && (
        <p class="state ill">
          <strong>{refusal.code}</strong>: {refusal.detail}
        </p>
      )}
      <dl>
        {facts
          .filter(([, value]) => value !== undefined && value !== '')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{String(value)}</dd>
            </div>
          ))}
      </dl>
      <h4>Sent upstream</h4>
      {sent.length === 0 && (
        <p class="quiet">Nothing: the gateway answered by itself, or others’ fetch was shared.</p>
      )}
      {sent.map((one, index) => (
        <SentDetails key={one.headers['x-signature-nonce'] ?? index} sent={one} />
      ))}
    </article>
  );
}

function SentDetails({
  sent: { method, url, headers, body, steps, answered, milliseconds },
}: {
  readonly sent: SentUpstream;
}) {
  return (
    <details>
      <summary>
        {method} {url.split('?')[0]?.replace(/^https?:\/\/[^/]+/, '')}: {answered} after {milliseconds} ms
      </summary>
      <pre>
        {`${method} ${url}\n${Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n')}${body === undefined ? '' : `\n\n${body}`}`}
      </pre>
      <h5>How it was signed</h5>
      <ol class="steps">
        {steps.map(([name, value]) => (
          <li key={name}>
            {name}
            <pre>{value}</pre>
          </li>
        ))}
      </ol>
    </details>
  );
}
