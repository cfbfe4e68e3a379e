/** The caller: the user that the key stands for, or one who signs in by authorization code with PKCE. */

import { signal } from '@preact/signals';
import {
  clientId,
  clock,
  freshId,
  isLocal,
  isOwnIssuer,
  issuerUrl,
  key,
  keyFault,
  token,
  tokenFault,
  useKey,
  useToken,
} from './gateway.ts';
import { run } from './local.ts';
import { accounts } from './orders.tsx';

const status = signal('');
const storageKey = 'countersign-sign-in';

interface Discovery {
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
}

/** Endpoints of an issuer. The run's own names itself by one of its addresses, and the page may have come from another. */
const discovery = async (): Promise<Discovery> =>
  isOwnIssuer
    ? { authorization_endpoint: `${issuerUrl}/authorize`, token_endpoint: `${issuerUrl}/token` }
    : ((await (await fetch(`${issuerUrl}/.well-known/openid-configuration`)).json()) as Discovery);

const redirectUri = () => location.origin + location.pathname;

const base64url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

/** RFC 7636: others may see the code in an address, and it is worth nothing without the verifier. */
async function signIn(user: string): Promise<void> {
  if (!crypto.subtle) {
    status.value = 'Sign-in needs a secure context: open the page as localhost, or over HTTPS.';
    return;
  }
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  const state = freshId('state');
  sessionStorage.setItem(storageKey, JSON.stringify({ verifier, state }));
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  const { authorization_endpoint } = await discovery();
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri(),
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
    scope: 'read trade write',
    state,
    ...(user && { login_hint: user }),
  });
  location.assign(`${authorization_endpoint}?${parameters}`);
}

/** Ends a sign-in, for which the issuer has led the browser back here with a code. */
export async function finishSignIn(): Promise<void> {
  const answer = new URLSearchParams(location.search);
  const code = answer.get('code');
  const error = answer.get('error');
  if (!code && !error) return;
  history.replaceState(null, '', redirectUri());
  const { verifier = '', state } = JSON.parse(sessionStorage.getItem(storageKey) ?? '{}') as Readonly<
    Record<string, string>
  >;
  sessionStorage.removeItem(storageKey);
  if (error || !code || state !== answer.get('state')) {
    const isOurs = state === answer.get('state');
    const why = isOurs
      ? (answer.get('error_description') ?? error ?? 'the issuer gave no code')
      : 'the answer belongs to another request';
    status.value =
      error === 'access_denied'
        ? 'Nobody is signed in: the sign-in was cancelled at the issuer (access_denied).'
        : `Nobody is signed in: ${why}. Sign in again.`;
    return;
  }
  const { token_endpoint } = await discovery();
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    client_id: clientId,
    redirect_uri: redirectUri(),
  });
  const response = await fetch(token_endpoint, { method: 'POST', body });
  const reply = (await response.json()) as Readonly<Record<string, string>>;
  if (reply.access_token) useToken(reply.access_token);
  else status.value = `Nobody is signed in: ${reply.error_description ?? reply.error}`;
}

/** Reads a token without verifying it, which the gateway does. */
function claimsOf(text: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(atob((text.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return {};
  }
}

const scopeWords: Readonly<Record<string, string>> = {
  read: 'to read',
  trade: 'to place, change and cancel orders',
  write: 'to change watchlists',
};

/** Describes the standard scope claim; other issuers may use another one. */
function allowedBy(scope: unknown): string {
  if (typeof scope !== 'string') return '';
  const words = scope.split(' ').map((one) => scopeWords[one] ?? one);
  return ` The token allows ${words.join(', ')}, as far as an operator has granted it.`;
}

export function People() {
  const claims = token.value ? claimsOf(token.value) : undefined;
  const users = run.value?.users ?? [];
  const may = accounts.value;
  return (
    <section id="people" aria-labelledby="people-title">
      <h2 id="people-title">Who calls</h2>
      <KeyForm />
      <p id="who">
        {claims
          ? `${claims.sub} has signed in, until ${clock(Number(claims.exp) * 1000)}.${allowedBy(claims.scope)}`
          : key.value && !keyFault.value
            ? `The key stands for ${users[0]?.name ?? 'the app'}.`
            : 'Nobody yet.'}{' '}
        {typeof may === 'string'
          ? !keyFault.value && may
          : may.length > 0 &&
            `Granted accounts: ${may.map(({ account_id }) => `${account_id.slice(0, 4)}…`).join(', ')}`}
      </p>
      <p class="row">
        {(isLocal.value ? users.map(({ name }) => name) : ['']).map((name) => (
          <button type="button" key={name} onClick={() => void signIn(name)}>
            Sign in{name && ` as ${name}`}
          </button>
        ))}
        {claims && (
          <button type="button" onClick={() => useToken('')}>
            Sign out
          </button>
        )}
      </p>
      <p role="status">{tokenFault.value || status.value}</p>
    </section>
  );
}

/** Form for the key, shown while there is none, or a wrong one. */
function KeyForm() {
  if (key.value && !keyFault.value) return null;
  return (
    <form
      class="row"
      id="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        useKey(String(new FormData(event.currentTarget).get('key')).trim());
      }}
    >
      <p class="state ill" role="status" id="key-state">
        {keyFault.value || 'No key yet: open the link that npm start printed, or put the key here.'}
      </p>
      <label>
        API key <input name="key" type="password" required autocomplete="off" />
      </label>
      <button type="submit" class="main">
        Use
      </button>
    </form>
  );
}
