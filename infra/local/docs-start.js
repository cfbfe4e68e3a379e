/**
 * Runs in the browser at /docs. The API key comes behind the # of the address, which browsers do not send to
 * any server; it is taken out of the address at once, so that it is neither shown nor kept in the history. The tab
 * keeps it, so that it outlives a reload.
 */

const kept = 'countersign-api-key';
const given = new URLSearchParams(location.hash.slice(1)).get('key');
if (given !== null) {
  history.replaceState(null, '', location.pathname);
  sessionStorage.setItem(kept, given);
}
const key = sessionStorage.getItem(kept);
const note = document.getElementById('key-note');
const help = 'press Authorize, or open the address that npm start printed.';
if (key === null) note.textContent = `No key: ${help}`;

const openApi = await fetch('/openapi.json').then((response) => response.json());

/** By path, the ids of the orders in its example. */
const exampleIds = new Map(
  Object.entries(openApi.paths).flatMap(([path, { post }]) => {
    const { new_orders, batch_orders } = post?.requestBody?.content['application/json'].example ?? {};
    const orders = new_orders ?? batch_orders;
    return orders ? [[path, new Set(orders.map((order) => order.client_order_id))]] : [];
  }),
);

/** The upstream takes an id once: an example's is replaced at each try, one that was typed is not. */
function withFreshIds(path, body) {
  const ids = exampleIds.get(path);
  if (!ids || typeof body !== 'string') return body;
  return body.replace(/("client_order_id"\s*:\s*)"([^"\\]*)"/g, (member, name, id) =>
    ids.has(id) ? `${name}"try-${Date.now().toString(36)}-${crypto.randomUUID().slice(0, 8)}"` : member,
  );
}

function onRequest(request) {
  // Also one that was typed under Authorize.
  const used = request.headers['x-api-key'];
  if (used) sessionStorage.setItem(kept, used);
  request.body = withFreshIds(new URL(request.url, location.origin).pathname, request.body);
  return request;
}

/** A run that began later has another key, unless API_KEY is set. */
function onResponse(response) {
  const isUnknown = response.status === 403 && /^(missing|unknown)_api_key$/.test(response.obj?.code);
  if (isUnknown) sessionStorage.removeItem(kept);
  note.textContent = isUnknown ? `The key is not of this run: ${help}` : '';
  return response;
}

/** A row for each error, with its codes; its schema and examples open with a press. */
const foldErrors = () => ({
  wrapComponents: {
    response:
      (Response, { React }) =>
      (props) => {
        const { createElement: element, Fragment, useState } = React;
        const [isOpen, setOpen] = useState(false);
        if (!/^[45]/.test(props.code)) return element(Response, props);
        const codes = props.response.getIn(['content', 'application/json', 'examples'])?.keySeq().join(', ');
        const press = {
          type: 'button',
          className: 'fold',
          'aria-expanded': isOpen,
          onClick: () => setOpen(!isOpen),
        };
        const row = element(
          'tr',
          { className: 'response', 'data-fold': props.code },
          element('td', { className: 'response-col_status' }, props.code),
          element('td', { colSpan: 2 }, element('button', press, isOpen ? '▾ ' : '▸ ', codes || 'an error')),
        );
        return element(Fragment, null, row, isOpen && element(Response, props));
      },
  },
});

/**
 * No Execute before Swagger UI has resolved what the operation refers to, which it does a moment after it shows it:
 * a press before that finds no operation, sends nothing, and leaves the button disabled for ever.
 */
const waitForOperation = () => ({
  wrapComponents: {
    execute:
      (Execute, { React }) =>
      (props) =>
        props.operation.has('operationId') ? React.createElement(Execute, props) : null,
  },
});

/** What is closed in a deployment until it is opened: here it is open, or not in the document. */
const tags = openApi.tags.map(({ description, ...tag }) => ({
  ...tag,
  description: description.replace(/^Closed until/, 'Open in this run; a deployment keeps it closed until'),
}));

const reference = globalThis.SwaggerUIBundle({
  // Under whichever name this machine was called: to another one the browser would not send.
  spec: { ...openApi, tags, servers: [{ url: location.origin }] },
  dom_id: '#reference',
  deepLinking: true,
  displayOperationId: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [foldErrors, waitForOperation],
  requestInterceptor: onRequest,
  responseInterceptor: onResponse,
  onComplete: () => {
    if (key !== null) reference.preauthorizeApiKey('api_key', key);
  },
});
