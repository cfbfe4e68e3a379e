/**
 * `countersign smoke <url>`: calls a deployment as a client would and says in words what is wrong. The API key comes from
 * API_KEY, because every process of the machine can read arguments.
 */

import { getConfig, getStockQuotes, getStockSnapshots, listAccounts } from '../../lib/catalogue/index.ts';
import { sleep } from '../../lib/kernel/pauses.ts';
import { type Cause, productIn } from '../../lib/upstream/cause.ts';
import { diagnose } from '../diagnose.ts';
import { inLine } from './print.ts';

export interface SmokeResult {
  readonly healthy: boolean;
  /** Report for the operator: the fault, and what to do. */
  readonly words: string;
}

const maxTries = 4;
/** A little more than the age that a response to `no-cache` may have. */
const pauseMs = 1100;

/**
 * @param url of the domain or of the stage, with or without a slash at the end
 * @param timeoutMs for each call; API Gateway itself gives up after 29 s
 */
export async function smoke(url: string, apiKey: string, timeoutMs = 30_000): Promise<SmokeResult> {
  const base = url.replace(/\/+$/, '');
  const sick = (words: string): SmokeResult => ({ healthy: false, words });
  const late = sick(`${base} gives no answer within ${timeoutMs / 1000} s: check the URL and the network.`);

  const health = await callOnce(`${base}/health`, {}, timeoutMs);
  if (health === 'timeout') return late;
  if (health === 'closed') return sick(`Nothing answers at ${base}: check the URL.`);
  // Any web server's page has status 200, too.
  if (health.status !== 200 || membersOf(health.body).status !== 'ok')
    return sick(
      `${base}/health answers ${health.status}${health.status === 200 ? ', but not {"status":"ok"}' : ''}: the URL is not that of a Countersign stage.`,
    );

  const config = await callOnce(`${base}${getConfig.path}`, {}, timeoutMs);
  if (config === 'timeout') return late;
  if (config === 'closed') return sick(`${base} closed the connection in the middle of a call.`);
  if (config.status !== 200 || JSON.stringify(config.body) !== getConfig.gatewayAnswer.body)
    return sick(
      `${base}${getConfig.path} answers ${config.status}${config.status === 200 ? `, but not ${getConfig.gatewayAnswer.body}` : ''}: existing clients read it before their first call, and cannot begin. Deploy this version again.`,
    );

  const target = `${base}${getStockSnapshots.path}?symbols=AAPL&category=US_STOCK`;
  const response = await askForFresh(target, apiKey, timeoutMs);
  const quotes = `${base}${getStockQuotes.path}?symbol=AAPL&category=US_STOCK`;
  const askQuotes = () => callOnce(quotes, { 'x-api-key': apiKey, 'cache-control': 'no-cache' }, timeoutMs);
  if (response === 'timeout') return late;
  if (response === 'closed') return sick(`${base} closed the connection in the middle of a call.`);
  if (wantsToken(response))
    return {
      healthy: true,
      words: `${getStockSnapshots.id} asks for an access token, as its group opens with jwt. Nothing was sent to the upstream: call an operation with a token to see that it is signed.`,
    };
  if (response.status !== 200) return sick(await refusalWords(response, askQuotes));
  if (!Array.isArray(response.body))
    return sick(
      `${getStockSnapshots.id} answers 200, but no JSON array: the URL is not that of a Countersign stage.`,
    );
  if (!response.isFresh)
    return sick(
      `${getStockSnapshots.id} is answered with what was known ${response.age} s ago: the upstream gives nothing newer now. ${await causeWords(askQuotes)}`,
    );
  const accounts = await callOnce(`${base}${listAccounts.path}`, { 'x-api-key': apiKey }, timeoutMs);
  return {
    healthy: true,
    words: `All is well: ${getStockSnapshots.id} is signed, accepted and answered.${wantsToken(accounts) ? ' Accounts ask for an access token; with one they were not tried.' : ''}`,
  };
}

/** Tells whether a group with `jwt` refused a call for its missing token. */
const wantsToken = (response: SmokeAnswer) =>
  typeof response !== 'string' &&
  response.status === 401 &&
  membersOf(response.body).code === 'missing_token';

const isPathUnknown = (response: SmokeAnswer) =>
  typeof response !== 'string' && membersOf(response.body).code === 'upstream_path_unknown';

/** @param askAnother calls another operation, to tell one unknown path from all of them */
async function refusalWords(
  response: SmokeResponse,
  askAnother: () => Promise<SmokeAnswer>,
): Promise<string> {
  const { code, cause, detail } = membersOf(response.body);
  if (code === 'no_fresh_answer' && cause === undefined)
    return withReference(`${detail ?? 'No fresh answer.'} ${await causeWords(askAnother)}`, response);
  const everywhere = isPathUnknown(response) && isPathUnknown(await askAnother());
  const diagnosis = diagnosisOf(response, everywhere);
  return withReference(diagnosis ?? detail ?? 'The gateway failed; its log says more.', response);
}

/** Asks another operation for the cause: it is refused for the same one, which an answer without fresh snapshots hides. */
async function causeWords(askAnother: () => Promise<SmokeAnswer>): Promise<string> {
  const response = await askAnother();
  const words = typeof response === 'string' || response.status === 200 ? undefined : diagnosisOf(response);
  return words ?? 'The functions’ log says why, as turn_failed.';
}

function diagnosisOf({ body }: SmokeResponse, everywhere = false): string | undefined {
  const { code, cause, upstream_message: message } = membersOf(body);
  const { clock_offset_seconds: offset } = { ...(body as object) } as Record<string, unknown>;
  const diagnosis = diagnose({
    code,
    everywhere,
    product: productIn(message),
    ...(cause !== undefined && { cause: cause as Cause }),
    ...(typeof offset === 'number' && { clockOffsetSeconds: offset }),
  });
  return diagnosis && `${diagnosis.sentence} ${diagnosis.remedy}`;
}

function withReference(words: string, { status, body }: SmokeResponse): string {
  const { code, request_id: requestId } = membersOf(body);
  return `${words} (${status} ${code ?? 'without code'}, request ${requestId ?? 'unknown'})`;
}

interface SmokeResponse {
  readonly status: number;
  /** Parsed JSON; undefined for anything else. */
  readonly body: unknown;
  /** Age in seconds; 0 when the response has none. */
  readonly age: number;
}

type SmokeAnswer = SmokeResponse | 'timeout' | 'closed';

async function callOnce(
  url: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<SmokeAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { headers, redirect: 'manual', signal });
    const age = Number(response.headers.get('age')) || 0;
    return { status: response.status, body: parseJson(await response.text()), age };
  } catch {
    return signal.aborted ? 'timeout' : 'closed';
  }
}

/** Repeats until the upstream has answered again: a cached response would hide that it is down. */
async function askForFresh(target: string, apiKey: string, timeoutMs: number): Promise<FreshResponse> {
  const headers = { 'x-api-key': apiKey, 'cache-control': 'no-cache' };
  const started = performance.now();
  for (let left = maxTries; ; ) {
    const response = await callOnce(target, headers, timeoutMs);
    if (typeof response === 'string' || response.status !== 200) return response;
    const isFresh = response.age * 1000 <= performance.now() - started;
    if (isFresh || --left === 0) return { ...response, isFresh };
    await sleep(pauseMs);
  }
}

type FreshResponse = (SmokeResponse & { readonly isFresh?: boolean }) | 'timeout' | 'closed';

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads only text members, escaped: the server may be any. */
function membersOf(body: unknown): Readonly<Record<string, string | undefined>> {
  if (typeof body !== 'object' || body === null) return {};
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, inLine(value)]] : [],
    ),
  );
}
