/**
 * The process that the load comes from, so that neither side's work delays the other's. Started with a channel:
 * it says when it is ready, receives one order, and sends back the result of every request.
 */

import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Asking, Caller, Order, Plan, Sample, Seeking } from './plan.ts';

/** Above what the gateway takes before it gives up by itself. */
const timeoutMs = 35_000;
const agent = new Agent({ keepAlive: true });

process.once('message', async ({ baseUrl, plan }: Order) => {
  process.send?.(await carryOut(plan, baseUrl));
});
// Without the study no process receives the results.
process.once('disconnect', () => process.exit());
process.send?.('ready');

async function carryOut({ askings, seekings }: Plan, baseUrl: string): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  const ask = asker(baseUrl, performance.now(), samples);
  const asked = askings.map((one) => askOn(one, ask));
  await Promise.all(seekings.length > 0 ? seekings.map((one) => seek(one, ask)) : asked);
  return samples;
}

type Ask = (from: Caller & { readonly name: string }, target: string, dueMs: number) => Promise<Sample>;

/** Gives a function that sends one request at its moment and notes what became of it. */
function asker(baseUrl: string, startedAt: number, samples: Sample[]): Ask {
  return async ({ name, key, localAddress }, target, dueMs) => {
    const aheadMs = dueMs - (performance.now() - startedAt);
    if (aheadMs > 0) await delay(aheadMs);
    const sentAt = performance.now();
    const answer = await fetchText(baseUrl + target, { key, localAddress });
    const sample = {
      name,
      dueMs,
      lateMs: Math.max(0, sentAt - startedAt - dueMs),
      tookMs: performance.now() - sentAt,
      ...summaryOf(answer, target),
    };
    samples.push(sample);
    return sample;
  };
}

const askOn = ({ targets, firstMs, everyMs, times, ...from }: Asking, ask: Ask): Promise<readonly Sample[]> =>
  Promise.all(
    Array.from({ length: times }, (_, count) =>
      ask(from, targets[count % targets.length]!, firstMs + count * everyMs),
    ),
  );

async function seek({ target, firstMs, pauseMs, giveUpMs, ...from }: Seeking, ask: Ask): Promise<void> {
  for (let dueMs = firstMs; dueMs <= firstMs + giveUpMs; ) {
    const { isFull, lateMs, tookMs, retryAfterSeconds = 0 } = await ask(from, target, dueMs);
    if (isFull) return;
    dueMs += lateMs + tookMs + Math.max(pauseMs, 1000 * retryAfterSeconds);
  }
}

interface Received {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** Gives the error's code when no whole answer came. */
function fetchText(url: string, from: Caller): Promise<Received | string> {
  const { key, localAddress } = from;
  return new Promise((resolve) => {
    const failed = ({ code = 'broken off' }: NodeJS.ErrnoException) => resolve(code);
    const options = { agent, localAddress, timeout: timeoutMs, headers: { 'x-api-key': key } };
    const request = get(url, options, (response) => {
      const { statusCode: status = 0, headers } = response;
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status, headers, text }));
      response.on('error', failed);
    });
    request.on('timeout', () => request.destroy(Object.assign(new Error(), { code: 'timed out' })));
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed an idle connection while the request was on its way: clients send it again.
      if (request.reusedSocket && error.code === 'ECONNRESET') resolve(fetchText(url, from));
      else failed(error);
    });
  });
}

function summaryOf(
  answer: Received | string,
  target: string,
): Pick<Sample, 'status' | 'code' | 'isFull' | 'isMiss' | 'retryAfterSeconds' | 'ageSeconds'> {
  if (typeof answer === 'string') return { status: 0, code: answer, isFull: false, isMiss: true };
  const { status, headers, text } = answer;
  const isFull = status === 200 && holdsAll(text, target);
  const isMiss = status !== 200 || String(headers['cache-status']).includes('fwd=');
  // What is not shared has no age.
  if (status === 200)
    return { status, isFull, isMiss, ...(headers.age && { ageSeconds: Number(headers.age) }) };
  const { code } = JSON.parse(text || '{}') as { readonly code?: string };
  const retryAfterSeconds = Number(headers['retry-after'] ?? 0);
  return { status, isFull, isMiss, retryAfterSeconds, ...(code !== undefined && { code }) };
}

function holdsAll(text: string, target: string): boolean {
  const symbols = new URL(target, 'http://localhost').searchParams.get('symbols')?.split(',') ?? [];
  const records = JSON.parse(text) as readonly { readonly symbol?: string }[];
  const held = new Set(records.map(({ symbol }) => symbol));
  return symbols.every((symbol) => held.has(symbol));
}
