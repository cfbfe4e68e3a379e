/**
 * Runs in the browser at /docs: how to call this run, and Swagger UI below. The API key comes behind the # of the address,
 * which browsers send to no server. It is removed from the address at once, so that it is neither shown nor kept in the
 * history. The tab keeps it over a reload.
 */

import { folds } from './folds.js';
import { createOrders } from './orders.js';

const byId = (id) => document.getElementById(id);

const kept = 'countersign-api-key';
let key = sessionStorage.getItem(kept) ?? '';

function keep(text) {
  key = text;
  if (text) sessionStorage.setItem(kept, text);
  else sessionStorage.removeItem(kept);
}

const replacesKey =
  'The link that you followed brings another API key. Use it in place of the one that this page has?';
const given = new URLSearchParams(location.hash.slice(1)).get('key');
if (given !== null) {
  history.replaceState(null, '', location.pathname);
  // Asks first, because anybody can make a link.
  if (!key || key === given || confirm(replacesKey)) keep(given);
}

const openApi = await fetch('/docs/openapi.json').then((response) => response.json());
const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);
const has = (id) => operations.some(({ operationId }) => operationId === id);

function showKey(isAccepted, text) {
  byId('key-state').className = `state ${isAccepted ? 'well' : 'ill'}`;
  byId('key-state').textContent = text;
  byId('key-form').hidden = isAccepted;
  byId('other-key').hidden = !isAccepted;
  byId('first').hidden = !isAccepted || !has('getStockSnapshots');
}

/** Checks the key by a path that the key's plan does not count. It is forbidden to other keys of this run than the operator's. */
async function checkKey() {
  if (!key) return showKey(false, 'No key yet: open the link that npm start printed, or put the key here.');
  const asked = key;
  const response = await fetch('/_run', { headers: { 'x-api-key': asked } });
  const { code, detail } = await response.json();
  if (asked !== key) return;
  if (response.ok || code === 'forbidden')
    showKey(true, 'The key is accepted. It goes with each call of this page.');
  else refuseKey(code, detail);
}

function refuseKey(code, detail) {
  keep('');
  reference.authActions.logout(['api_key']);
  showKey(false, `${code}: ${detail}`);
}

function useKey(text) {
  keep(text);
  reference.preauthorizeApiKey('api_key', key);
  void checkKey();
}

/** Checks a key that is typed under Authorize like one from the form. */
const hearKey = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (authorize) => (payload) => {
          const typed = payload.api_key?.value;
          if (typed && typed !== key) {
            keep(typed);
            void checkKey();
          }
          return authorize(payload);
        },
      },
    },
  },
});

const isUnknownKey = (code) => /^(missing|unknown)_api_key$/.test(code);

const firstCall = '/openapi/market-data/stock/snapshot?symbols=AAPL&category=US_STOCK';

async function tryFirst() {
  const began = performance.now();
  const response = await fetch(firstCall, { headers: { 'x-api-key': key } });
  const answer = await response.json();
  byId('first-status').textContent = `${response.status} after ${Math.round(performance.now() - began)} ms`;
  byId('first-answer').hidden = false;
  byId('first-answer').textContent = JSON.stringify(answer);
  // A later run has another key, unless API_KEY is set.
  if (isUnknownKey(answer.code)) refuseKey(answer.code, answer.detail);
}

const orders = createOrders(
  operations,
  () => reference,
  (id) => {
    byId('last-order').textContent = `The last one has the id ${id}, which stands in these calls now.`;
  },
);

const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', paint);
paint();

const reference = globalThis.SwaggerUIBundle({
  // Uses the name by which this machine was called: the browser would not send to another one.
  spec: { ...openApi, servers: [{ url: location.origin }] },
  dom_id: '#reference',
  deepLinking: true,
  displayOperationId: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [...folds, hearKey],
  requestInterceptor(request) {
    request.body = orders.sending(new URL(request.url, location.origin).pathname, request.body);
    return request;
  },
  responseInterceptor(response) {
    const { code, detail } = response.obj ?? {};
    const { pathname } = new URL(response.url, location.origin);
    orders.answered(pathname, response.ok || code === 'outcome_unknown');
    if (isUnknownKey(code)) refuseKey(code, detail);
    return response;
  },
  onComplete: () => {
    if (key) reference.preauthorizeApiKey('api_key', key);
  },
});

byId('next').hidden = !has('placeOrder');
byId('first-call').textContent = `curl -H "x-api-key: $API_KEY" '${location.origin}${firstCall}'`;
byId('try').addEventListener('click', () => void tryFirst());
byId('key-form').addEventListener('submit', (event) => {
  event.preventDefault();
  useKey(byId('key').value.trim());
  byId('key').value = '';
});
byId('other-key').addEventListener('click', () => {
  byId('key-form').hidden = false;
  byId('key').focus();
});
// Swagger UI reads the address by itself only at its start.
addEventListener('hashchange', () => reference.layoutActions.parseDeepLinkHash(location.hash));
void checkKey();
