/** `countersign doctor`: examines one after the other what a stage depends on, and says what is wrong and what to do. */

import { createTokenCalls, TokenCallError } from '../../lib/access-token/calls.ts';
import { getConfig } from '../../lib/catalogue/config.ts';
import { createClient, direct, isClientError, RefusedError } from '../../lib/client/index.ts';
import { type Credential, toCredential } from '../../lib/gateway/credential.ts';
import { baseUrlFault } from '../../lib/gateway/index.ts';
import { doubledPathFault } from '../../lib/upstream/base-url.ts';
import { causeOf, causeOfConnection } from '../../lib/upstream/cause.ts';
import { stemOf } from '../../lib/upstream/upstream-code.ts';
import { type DiagnosedFacts, diagnose } from '../diagnose.ts';
import { StartError, type Variables } from '../environment.ts';
import { marketStreamOutput } from '../stack/outputs.ts';
import { type Finding, fault, unknown, well } from './finding.ts';
import type { StackTarget } from './readers.ts';

/** Findings so far, and what the further examination needs. */
interface Examination {
  readonly findings: readonly Finding[];
  readonly baseUrl?: string;
  /** URL of the market stream, if the stage uses it. */
  readonly streamUrl?: string | undefined;
  /** JSON text of the secret. */
  readonly secret?: string;
}

/**
 * @param target a deployed stack; absent: the environment is examined
 * @param env APP_KEY, APP_SECRET, ACCESS_TOKEN, UPSTREAM_BASE_URL and MARKET_STREAM_URL, where there is no target
 * @returns the findings in order; they contain no part of a key, a token or an account
 */
export async function examine(
  target: StackTarget | undefined,
  env: Variables = process.env,
): Promise<readonly Finding[]> {
  const { findings, baseUrl, streamUrl, secret } = target
    ? await deployedPatient(target)
    : environmentPatient(env);
  const first = [well(`Node ${process.versions.node}.`), ...findings];
  if (baseUrl === undefined || first.some(({ verdict }) => verdict === 'fault')) return first;
  const result = toCredential(secret, { clock: Date.now });
  if (!result.ok) return [...first, fault(inWords({ code: result.code }))];
  const { credential } = result;
  const upstream = await examineUpstream(baseUrl, credential);
  const all = [...first, well('The secret has an app key and an app secret.'), ...upstream];
  if (!streamUrl || upstream.some(({ verdict }) => verdict === 'fault')) return all;
  const { examineStream } = await import('./doctor-stream.ts');
  return [...all, await examineStream(streamUrl, baseUrl, credential)];
}

async function deployedPatient({ stackName }: StackTarget): Promise<Examination> {
  const { awsAccess } = await import('./aws.ts');
  const { outputOf, outputsOf, secretOutput, stackSecret } = await import('./stack-secret.ts');
  const findings: Finding[] = [];
  try {
    findings.push(well(`AWS credentials are there, and the Region is ${(await awsAccess()).region}.`));
    const outputs = await outputsOf(stackName);
    findings.push(well(`The stack ${stackName} is deployed.`));
    const secret = await stackSecret(stackName, outputOf(stackName, outputs, secretOutput)).read();
    const baseUrl = outputOf(stackName, outputs, 'UpstreamUrl');
    const streamUrl = outputs.get(marketStreamOutput);
    return { findings, baseUrl, streamUrl, secret: secret?.text ?? '' };
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return { findings: [...findings, fault(error.message)] };
  }
}

function environmentPatient({
  APP_KEY,
  APP_SECRET,
  ACCESS_TOKEN,
  UPSTREAM_BASE_URL: baseUrl,
  MARKET_STREAM_URL: streamUrl,
}: Variables): Examination {
  if (!baseUrl)
    return {
      findings: [
        unknown(
          'Nothing else was looked at: give --stage, or set UPSTREAM_BASE_URL, APP_KEY and APP_SECRET.',
        ),
      ],
    };
  const wrong = baseUrlFault(baseUrl) ?? doubledPathFault(baseUrl, [getConfig.path]);
  if (wrong) return { findings: [fault(`UPSTREAM_BASE_URL: ${wrong}.`)] };
  const secret = JSON.stringify({ app_key: APP_KEY, app_secret: APP_SECRET, access_token: ACCESS_TOKEN });
  return { findings: [], baseUrl, streamUrl, secret };
}

/** Examines the upstream with reads that count against no limit of market data: its configuration, and the token's state. */
async function examineUpstream(baseUrl: string, credential: Credential): Promise<readonly Finding[]> {
  const facts = await refusalOf(baseUrl, credential);
  if (facts) return [fault(inWords(facts))];
  const accepted = well('The upstream accepts the signature.');
  const calls = createTokenCalls({ baseUrl, credential });
  try {
    if (!(await calls.isNeeded())) return [accepted, well('The upstream wants no access token.')];
    const { accessToken } = credential;
    if (accessToken === undefined) return [accepted, fault(inWords({ cause: 'token_missing' }))];
    const { status } = await calls.check(accessToken);
    return [
      accepted,
      status === 'NORMAL'
        ? well('The upstream accepts the access token.')
        : fault(inWords({ cause: 'token_refused', tokenStatus: status })),
    ];
  } catch (error) {
    if (!(error instanceof TokenCallError)) throw error;
    return [accepted, unknown(`Whether an access token is wanted is not known: ${error.message}.`)];
  }
}

/** @returns undefined when the upstream accepts a signed request */
async function refusalOf(baseUrl: string, { signer }: Credential): Promise<DiagnosedFacts | undefined> {
  let response: Response | undefined;
  const keepResponse: typeof fetch = async (...given) => {
    response = await fetch(...given);
    return response;
  };
  try {
    await createClient({ getConfig }, direct({ baseUrl, signer, fetch: keepResponse }), {
      timeoutMs: 10_000,
    }).getConfig();
    return undefined;
  } catch (error) {
    if (!isClientError(error)) throw error;
    // An answer that begins and never ends comes here, too.
    if (error.kind === 'timed_out') return { code: 'upstream_timeout' };
    if (!response) {
      const { cause } = error as { readonly cause?: { readonly cause?: { readonly code?: unknown } } };
      const found = causeOfConnection(cause?.cause?.code);
      return { code: 'upstream_unreachable', cause: found };
    }
    const { status, headers } = response;
    if (status === 429) return { code: 'upstream_rate_limited' };
    const errorCode = (error instanceof RefusedError && error.errorCode) || '';
    const stem = stemOf(errorCode);
    const header = (name: string) => headers.get(name) ?? undefined;
    const caused = causeOf({ status, stem, header, now: Date.now(), sentToken: false });
    const isRefused = status === 401 || status === 403;
    const code = isRefused
      ? 'upstream_auth_failed'
      : status === 404
        ? 'upstream_path_unknown'
        : status >= 500
          ? 'upstream_error'
          : /^[A-Z_]+$/.test(errorCode)
            ? `${status} ${errorCode}`
            : 'upstream_broken_answer';
    return { code, ...caused };
  }
}

function inWords(facts: DiagnosedFacts): string {
  if (facts.code === 'upstream_rate_limited')
    return 'The upstream limits requests at present (429). Wait a minute, find out what else uses the app key, and run the command again.';
  const found = diagnose(facts);
  return found ? `${found.sentence} ${found.remedy}` : `The upstream refuses: ${facts.code ?? facts.cause}.`;
}
