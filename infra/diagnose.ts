/** Explains a refusal to the operator, and what to do about it: for the smoke test and the local run alike. */

import type { Cause, Caused, RefusalCode } from '../lib/gateway/index.ts';

/** Known facts about a refusal. */
export interface DiagnosedFacts extends Caused {
  readonly code?: string | undefined;
  /** Market data product without a subscription. */
  readonly product?: string | undefined;
  /** Whether another operation's path is unknown, too, with `upstream_path_unknown`; undefined if none was tried. */
  readonly everywhere?: boolean | undefined;
  /** State of the token at the upstream, such as `PENDING`, with the cause `token_refused`. */
  readonly tokenStatus?: string | undefined;
}

interface Diagnosis {
  /** States the fault. */
  readonly sentence: string;
  readonly remedy: string;
}

/**
 * Names the cause of a refusal, as far as the facts tell it.
 *
 * @returns undefined for a refusal that is no fault of the deployment or of its upstream
 * @example diagnose({ code: 'upstream_auth_failed', cause: 'wrong_clock', clockOffsetSeconds: -600 })?.sentence
 * // 'The gateway’s clock is 600 s behind the upstream’s, …'
 */
export function diagnose(facts: DiagnosedFacts): Diagnosis | undefined {
  const { code, cause, everywhere } = facts;
  // A caller may be answered by a newer gateway, which has more causes.
  if (cause && Object.hasOwn(byCause, cause)) return byCause[cause](facts);
  if (code === 'upstream_path_unknown')
    return everywhere === undefined ? unknownPath : everywhere ? anotherEnvironment : retiredPath;
  if (code === 'data_not_subscribed') return notSubscribed(facts);
  return code !== undefined && Object.hasOwn(byCode, code) ? byCode[code as RefusalCode] : undefined;
}

const setSecret = 'countersign secret; in a local run APP_KEY and APP_SECRET';
const newToken =
  'Run countersign token: it makes one, waits while its owner confirms it in the broker’s app, and stores it in the secret; a local run takes it as ACCESS_TOKEN.';
const checkHost =
  'Compare the base URL (upstream.baseUrl; in a local run UPSTREAM_BASE_URL) with the broker’s pages: each region and environment has a host of its own.';

const says = (sentence: string, remedy: string): Diagnosis => ({ sentence, remedy });
const always = (sentence: string, remedy: string) => () => says(sentence, remedy);

const byCause: Readonly<Record<Cause, (facts: DiagnosedFacts) => Diagnosis>> = {
  wrong_clock: ({ clockOffsetSeconds: offset }) =>
    says(
      `The gateway’s clock is ${offset === undefined ? 'too far from' : `${Math.abs(offset)} s ${offset < 0 ? 'behind' : 'ahead of'}`} the upstream’s, which refuses what is signed at another time.`,
      'Set the clock of the machine, best by a time service. In Lambda it is AWS’s: then the upstream’s is wrong.',
    ),
  key_refused: always(
    'The upstream does not know the app key, or has disabled it.',
    `Compare app key and base URL with what the broker shows for this environment and region, and set the pair again (${setSecret}).`,
  ),
  wrong_secret: always(
    'The app secret is wrong: the upstream knows the app key, and computes another signature.',
    `Set the secret that belongs to the key (${setSecret}).`,
  ),
  token_missing: always('The upstream asks for an access token, and there is none in the secret.', newToken),
  token_refused: ({ tokenStatus = '' }) => tokenStates.get(tokenStatus) ?? tokenNotAccepted,
  address_refused: always(
    'The upstream takes this app key from other addresses only.',
    'Put the address that the gateway sends from on the key’s list at the broker; functions without a network of their own have no fixed one.',
  ),
  header_lost: always(
    'A signing header did not arrive at the upstream.',
    'Look for a proxy between the gateway and the upstream that takes headers away.',
  ),
  version_refused: always(
    'The upstream takes another version of its interface or of the signature than this gateway sends.',
    'Deploy a newer version of Countersign; if there is none, report it.',
  ),
  account_not_ours: always(
    'The account in the request does not belong to the app key.',
    'Send an account_id that listAccounts names; the accounts of another environment have other ids.',
  ),
  limit_tighter: always(
    'The upstream answers 429 although the gateway keeps within the limit that it knows: the upstream’s is tighter, or others use the same app key.',
    'Choose tighter figures in upstream.limits, name one more limit in limiter.operationLimits, or leave a part to the others with limiter.share; see docs/limits.md. Nothing is sent until the upstream’s pause is over.',
  ),
  host_unknown: always('The upstream’s host name does not exist.', checkHost),
  host_closed: always(
    'Nothing listens at the upstream’s host and port.',
    `Start the upstream, if it is your own. ${checkHost}`,
  ),
  wrong_certificate: always(
    'The upstream’s certificate is for another name: the base URL leads to a server that is not its own, such as another region’s.',
    checkHost,
  ),
  untrusted_certificate: always(
    'The upstream’s certificate is signed by no authority that is trusted here, or is out of date.',
    'Look for a proxy that reads along, and at the clock of the machine; never switch the check off.',
  ),
  not_the_interface: always(
    'A web page or a redirect answers in the upstream’s place.',
    `${checkHost} A path in it must be that of the interface.`,
  ),
};

const tokenNotAccepted = says(
  'The upstream does not accept the access token: it is pending, expired or invalid.',
  `If it was created a moment ago, confirm it in the broker’s app. ${newToken}`,
);

const tokenStates: ReadonlyMap<string, Diagnosis> = new Map([
  [
    'PENDING',
    says(
      'The access token is pending: its owner has not confirmed it.',
      'Confirm it in the broker’s app within five minutes of its creation; if that time is over, create another one.',
    ),
  ],
  ['EXPIRED', says('The access token has expired.', newToken)],
  [
    'INVALID',
    says(
      'The access token is invalid: the upstream does not know it, or its owner did not confirm it in time.',
      newToken,
    ),
  ],
  [
    'NORMAL',
    says(
      'The upstream calls the access token normal, and refuses it all the same.',
      `Look whether the token was made with the same app key, and set key, secret and token again (${setSecret}, ACCESS_TOKEN).`,
    ),
  ],
]);

const anotherEnvironment = says(
  'The upstream knows no path, neither this operation’s nor another’s: the secret holds the key of another environment, such as a sandbox’s in production, to which the upstream answers 404 everywhere; or the base URL is wrong.',
  `Set the pair of this environment (${setSecret}). ${checkHost}`,
);

const otherPath =
  'Set upstream.paths (in a local run UPSTREAM_PATHS) to another of the operation’s paths, which docs/operations.md has.';
const retiredPath = says('The upstream serves other paths, but not this one: it has retired it.', otherPath);
const unknownPath = says(
  'The upstream does not serve this path: it has retired it, or the key is of another environment.',
  `Call another operation: if its path is unknown too, it is the key. Otherwise: ${otherPath.charAt(0).toLowerCase()}${otherPath.slice(1)}`,
);

const notSubscribed = ({ product }: DiagnosedFacts) =>
  says(
    `The user of the app key has no subscription for ${product ? `the market data ${product}` : 'this market data'}; everything up to there works.`,
    'Subscribe to it at the broker, for use by the interface, or do not ask for it.',
  );

const checkUpstream = 'Check the base URL, and whether the upstream is up.';

/** Diagnoses of codes that need no cause. A code that is missing here is shown as it came. */
const byCode: Partial<Record<RefusalCode, Diagnosis>> = {
  missing_api_key: says(
    'The API key is wrong or belongs to no usage plan of this stage.',
    'Set API_KEY to the value of the key in the stack’s output.',
  ),
  unknown_api_key: says(
    'The API key is not one of this local run.',
    'Set API_KEY to the key that npm start printed.',
  ),
  secret_not_set: says(
    'The secret is empty.',
    'Pipe {"app_key": "…", "app_secret": "…"} into countersign secret.',
  ),
  secret_invalid: says(
    'The secret is not of the form {"app_key": "…", "app_secret": "…"}.',
    'Set it again with countersign secret.',
  ),
  secret_unavailable: says(
    'The function cannot read the secret.',
    'Look at its role and at Secrets Manager in this Region.',
  ),
  upstream_auth_failed: says(
    'The upstream refuses the credentials, and does not say why.',
    `The secret holds a wrong key or secret, or no valid access_token where one is wanted: set it again (${setSecret}).`,
  ),
  upstream_token_expired: says('The access token is missing, not confirmed, or has expired.', newToken),
  upstream_unreachable: says('The upstream cannot be reached.', checkUpstream),
  upstream_timeout: says('The upstream gives no answer in time: it is down or overloaded.', checkUpstream),
  upstream_error: says('The upstream fails.', checkUpstream),
  upstream_broken_answer: says(
    'The upstream answers something that is not its interface.',
    'Check the base URL.',
  ),
  no_fresh_answer: says(
    'The upstream gives no answer in time: it is down, overloaded, or its request limit is used up.',
    'Look into the functions’ log, for turn_failed.',
  ),
  throttled: says(
    'The usage plan of this key is used up for now; everything up to there works.',
    'Wait, or give the key another tier in plans.',
  ),
  unknown_operation: says(
    'Market data is not open in this deployment, or the URL lacks its stage (only a domain has none).',
    'Compare the URL with the output ApiUrl.',
  ),
};
