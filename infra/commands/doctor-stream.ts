/** Examines the upstream's real-time channel for `countersign doctor`: do its broker and its HTTP interface share an account? */

import { createMqttTransport } from '../../functions/aws/mqtt-transport.ts';
import { unsubscribeMarketData } from '../../lib/catalogue/market-stream.ts';
import { createClient, direct, isClientError, RefusedError } from '../../lib/client/index.ts';
import type { Credential } from '../../lib/gateway/credential.ts';
import { sleep } from '../../lib/kernel/pauses.ts';
import { MarketStreamError } from '../../lib/market-stream/ports.ts';
import { marketStreamUrlFault } from '../../lib/upstream/base-url.ts';
import { causeOfConnection } from '../../lib/upstream/cause.ts';
import { stemOf } from '../../lib/upstream/upstream-code.ts';
import { type Finding, fault, unknown, well } from './finding.ts';

const waitMs = 15_000;
/** Waits before each question: the upstream may need a second or so after it accepted a connection to know the session. */
const pausesMs = [1000, 1000, 2000];

const compareAdvice =
  'Compare marketStream.url (MARKET_STREAM_URL) with the broker’s pages: each region and environment has a host of its own, the same as the base URL’s.';

/** Connects once, without a symbol, and asks over HTTP whether the session is known. */
export async function examineStream(
  url: string,
  baseUrl: string,
  { appKey, signer, accessToken }: Credential,
): Promise<Finding> {
  const wrong = marketStreamUrlFault(url);
  if (wrong) return fault(`The URL of the market stream cannot be used: it ${wrong}.`);
  const sessionId = crypto.randomUUID();
  const connection = direct({ baseUrl, signer, ...(accessToken && { accessToken }) });
  const client = createClient({ unsubscribeMarketData }, connection, { timeoutMs: 5000 });
  const call = { sessionId, appKey, pingMs: 5000, signal: AbortSignal.timeout(waitMs) };
  try {
    for await (const incoming of createMqttTransport({ url }).open(call))
      if (incoming.kind === 'connected') return await sessionKnown(ask);
    return fault(`The broker of the market stream gives no answer. ${compareAdvice}`);
  } catch (error) {
    if (!(error instanceof MarketStreamError)) throw error;
    return refusedConnection(error);
  }

  async function ask(): Promise<string | undefined> {
    try {
      await client.unsubscribeMarketData({ session_id: sessionId, unsubscribe_all: true });
      return undefined;
    } catch (error) {
      if (!isClientError(error)) throw error;
      return error instanceof RefusedError ? stemOf(error.errorCode) || `${error.status}` : error.code;
    }
  }
}

async function sessionKnown(ask: () => Promise<string | undefined>): Promise<Finding> {
  let code: string | undefined;
  for (const pauseMs of pausesMs) {
    await sleep(pauseMs);
    code = await ask();
    if (code !== 'INVALID_SESSION') break;
  }
  if (code === undefined)
    return well('The broker of the market stream accepts the app key, and the upstream knows its session.');
  return code === 'INVALID_SESSION'
    ? fault(
        `The market stream’s broker accepts the app key, but the upstream knows no session there: broker and base URL are of different environments. ${compareAdvice}`,
      )
    : unknown(`Whether the upstream knows a session of the market stream is not known: it answers ${code}.`);
}

function refusedConnection({ refusal, cause }: MarketStreamError): Finding {
  if (refusal === 105)
    return unknown(
      'The market stream’s broker has as many connections of the app key as it allows; one counts for a minute after its end. Ask again in a minute; if it stays so, lower marketStream.sessions, or end other clients of the key.',
    );
  if (refusal !== undefined && [4, 5, 103, 104].includes(refusal))
    return fault(
      `The market stream’s broker refuses the app key (code ${refusal}), which the upstream accepts over HTTP. ${compareAdvice}`,
    );
  if (refusal !== undefined)
    return fault(
      `The market stream’s broker refuses the connection with code ${refusal}. Ask again in some minutes; if it stays so, report it to the broker.`,
    );
  const found = causeOfConnection((cause as { readonly code?: unknown } | undefined)?.code);
  const why = {
    host_unknown: 'Its host name does not exist.',
    host_closed: 'Nothing listens at its host and port.',
    wrong_certificate: 'Its certificate is for another name.',
    untrusted_certificate: 'Its certificate is signed by no authority that is trusted here.',
  } as const;
  const words = found && found in why ? ` ${why[found as keyof typeof why]}` : '';
  return fault(`The broker of the market stream cannot be reached.${words} ${compareAdvice}`);
}
