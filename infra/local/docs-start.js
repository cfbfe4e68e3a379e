/**
 * Runs in the browser at /docs. The API key comes behind the # of the address, which browsers do not send to
 * any server; it is taken out of the address at once, so that it is neither shown nor kept in the history.
 */

const key = new URLSearchParams(location.hash.slice(1)).get('key');
if (key !== null) history.replaceState(null, '', location.pathname);

const openApi = await fetch('/openapi.json').then((response) => response.json());

const reference = globalThis.SwaggerUIBundle({
  // Under whichever name this machine was called: to another one the browser would not send.
  spec: { ...openApi, servers: [{ url: location.origin }] },
  dom_id: '#reference',
  deepLinking: true,
  displayOperationId: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
  onComplete: () => {
    if (key !== null) reference.preauthorizeApiKey('api_key', key);
  },
});
