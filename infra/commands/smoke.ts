/**
 * `npm run smoke -- <url>`: calls a deployment as a client would and says in words what is wrong. The API
 * key comes from API_KEY, because arguments are visible to every process of the machine.
 */

import { getConfig, getStockQuotes, getStockSnapshots } from '../../lib/catalogue/index.ts';
import type { RefusalCode } from '../../lib/gateway/index.ts';
import { StartError } from '../environment.ts';

export interface Diagnosis {
  readonly healthy: boolean;
  /** One or two sentences for the operator. */
  readonly words: string;
}

/** What an operator does about each refusal; a code that is not here is shown as it came. */
const remedies: Partial<Record<RefusalCode, string>> = {
  missing_api_key:
    'The API key is wrong or belongs to no usage plan of this stage: set API_KEY to the value of the key in the stack’s output.',
  secret_not_set: 'The secret is empty: pipe {"app_key": "…", "app_secret": "…"} into npm run secret:set.',
  secret_invalid:
    'The secret is not of the form {"app_key": "…", "app_secret": "…"}: set it again with npm run secret:set.',
  secret_unavailable:
    'The function cannot read the secret: look at its role and at Secrets Manager in this Region.',
  upstream_auth_failed:
    'The upstream refuses the credentials: the secret holds a wrong key or secret, or lacks a valid access_token that the upstream wants.',
  upstream_unreachable: 'The upstream cannot be reached: check the base URL and whether it is up.',
  upstream_timeout:
    'The upstream gives no answer in time: it is down or overloaded, or the base URL is wrong.',
  upstream_error: 'The upstream fails: it is down or the base URL is wrong.',
  upstream_broken_answer: 'The upstream answers something that is not its interface: check the base URL.',
  upstream_path_unknown:
    'The upstream serves other paths, but not this one: set upstream.paths to another of the operation’s paths.',
  upstream_rate_limited: 'The upstream’s request limit is used up for now; everything up to there works.',
  no_fresh_answer:
    'The upstream gives no answer in time: it is down, overloaded, or its request limit is used up. The functions’ log says more, as turn_failed.',
  data_not_subscribed: 'The upstream account has no market data subscription; everything up to there works.',
  throttled: 'The usage plan of this key is used up for now; everything up to there works.',
  unknown_operation:
    'Market data is not open in this deployment, or the URL lacks its stage (only a domain has none).',
};

const tries = 4;
/** How old a response to `no-cache` may be, and a little more. */
const pauseMs = 1100;

/**
 * @param url that of the domain or of the stage, with or without a slash at the end
 * @param timeoutMs for each call; API Gateway itself gives up after 29 s
 */
export async function smoke(url: string, apiKey: string, timeoutMs = 30_000): Promise<Diagnosis> {
  const base = url.replace(/\/+$/, '');
  const sick = (words: string): Diagnosis => ({ healthy: false, words });
  const late = sick(`${base} gives no answer within ${timeoutMs / 1000} s: check the URL and the network.`);

  const health = await ask(`${base}/health`, {}, timeoutMs);
  if (health === 'timeout') return late;
  if (health === 'closed') return sick(`Nothing answers at ${base}: check the URL.`);
  // A page of any web server has status 200, too.
  if (health.status !== 200 || membersOf(health.body).status !== 'ok')
    return sick(
      `${base}/health answers ${health.status}${health.status === 200 ? ', but not {"status":"ok"}' : ''}: the URL is not that of a Countersign stage.`,
    );

  const config = await ask(`${base}${getConfig.path}`, {}, timeoutMs);
  if (config === 'timeout') return late;
  if (config === 'closed') return sick(`${base} closed the connection in the middle of a call.`);
  if (config.status !== 200 || JSON.stringify(config.body) !== getConfig.gatewayAnswer.body)
    return sick(
      `${base}${getConfig.path} answers ${config.status}${config.status === 200 ? `, but not ${getConfig.gatewayAnswer.body}` : ''}: existing clients read it before their first call, and cannot begin. Deploy this version again.`,
    );

  const target = `${base}${getStockSnapshots.path}?symbols=AAPL&category=US_STOCK`;
  const response = await askForFresh(target, apiKey, timeoutMs);
  if (response === 'timeout') return late;
  if (response === 'closed') return sick(`${base} closed the connection in the middle of a call.`);
  if (isPathUnknown(response)) {
    const quotes = `${base}${getStockQuotes.path}?symbol=AAPL&category=US_STOCK`;
    const other = await ask(quotes, { 'x-api-key': apiKey }, timeoutMs);
    if (typeof other !== 'string' && isPathUnknown(other)) return sick(withReference(noPathWords, other));
  }
  if (response.status !== 200) return sick(refusalWords(response));
  if (!Array.isArray(response.body))
    return sick(
      `${getStockSnapshots.id} answers 200, but no JSON array: the URL is not that of a Countersign stage.`,
    );
  if (!response.isFresh)
    return sick(
      `${getStockSnapshots.id} is answered with what was known ${response.age} s ago: the upstream gives nothing newer now. The functions’ log says why, as turn_failed.`,
    );
  return { healthy: true, words: `All is well: ${getStockSnapshots.id} is signed, accepted and answered.` };
}

const isPathUnknown = ({ body }: SmokeResponse) => membersOf(body).code === 'upstream_path_unknown';

const noPathWords = `The upstream knows no path, neither that of ${getStockSnapshots.id} nor that of ${getStockQuotes.id}: the secret holds the key of another environment, such as a sandbox’s in production, to which the upstream answers 404 everywhere; or the base URL is wrong.`;

function refusalWords(response: SmokeResponse): string {
  const { code, detail } = membersOf(response.body);
  const remedy =
    code !== undefined && Object.hasOwn(remedies, code) ? remedies[code as RefusalCode] : undefined;
  return withReference(remedy ?? detail ?? 'The gateway failed; its log says more.', response);
}

function withReference(words: string, { status, body }: SmokeResponse): string {
  const { code, request_id: requestId } = membersOf(body);
  return `${words} (${status} ${code ?? 'without code'}, request ${requestId ?? 'unknown'})`;
}

interface SmokeResponse {
  readonly status: number;
  /** The parsed JSON; undefined for anything else. */
  readonly body: unknown;
  /** In seconds; 0 when the response has no age. */
  readonly age: number;
}

async function ask(
  url: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<SmokeResponse | 'timeout' | 'closed'> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { headers, redirect: 'manual', signal });
    const age = Number(response.headers.get('age')) || 0;
    return { status: response.status, body: parsed(await response.text()), age };
  } catch {
    return signal.aborted ? 'timeout' : 'closed';
  }
}

/** Repeats until the upstream has answered meanwhile: a cached response would hide that it is down. */
async function askForFresh(target: string, apiKey: string, timeoutMs: number): Promise<FreshResponse> {
  const headers = { 'x-api-key': apiKey, 'cache-control': 'no-cache' };
  const started = performance.now();
  for (let left = tries; ; ) {
    const response = await ask(target, headers, timeoutMs);
    if (typeof response === 'string' || response.status !== 200) return response;
    const isFresh = response.age * 1000 <= performance.now() - started;
    if (isFresh || --left === 0) return { ...response, isFresh };
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

type FreshResponse = (SmokeResponse & { readonly isFresh?: boolean }) | 'timeout' | 'closed';

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The server may be any: only members that are text are read. */
function membersOf(body: unknown): Readonly<Record<string, string | undefined>> {
  if (typeof body !== 'object' || body === null) return {};
  return Object.fromEntries(Object.entries(body).filter(([, value]) => typeof value === 'string'));
}

/** @throws StartError naming what is missing or cannot be used; the key is not repeated in it */
export function smokeArguments(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): [url: string, apiKey: string] {
  const [url, ...rest] = argv;
  if (!url || rest.length > 0 || !URL.canParse(url))
    throw new StartError('Usage: API_KEY=… npm run smoke -- <url>');
  if (!env.API_KEY)
    throw new StartError('API_KEY is not set: it takes the value of an API key of the stage.');
  // Another would make fetch throw, which would read as if nothing answered.
  if (!/^[!-~]+$/.test(env.API_KEY))
    throw new StartError('API_KEY must be visible ASCII characters without spaces.');
  return [url, env.API_KEY];
}
