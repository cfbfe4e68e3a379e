/**
 * What the local run serves without a key: the operations that a gateway answers with a constant, as a deployment
 * does; and, beside the API, its OpenAPI document and Swagger UI to read it and to try calls, which no deployment
 * has.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Operation } from '../../lib/catalogue/index.ts';
import type { HttpResponse } from './proxy-result.ts';

/** Made when it is asked for. */
export type Page = () => HttpResponse;

/** @param document the OpenAPI document; the address of this run is known when it is asked for */
export function createPages(document: () => unknown): ReadonlyMap<string, Page> {
  let openApi: string | undefined;
  const openApiText = () => {
    openApi ??= JSON.stringify(document());
    return openApi;
  };
  return new Map([
    ['/openapi.json', () => page('application/json', openApiText())],
    ['/docs', () => page('text/html; charset=utf-8', html)],
    ['/docs/start.js', () => page(script, readFileSync(join(import.meta.dirname, 'docs-start.js')))],
    ['/docs/swagger-ui.js', () => page(script, swaggerUi('swagger-ui-bundle.js'))],
    ['/docs/swagger-ui.css', () => page('text/css; charset=utf-8', swaggerUi('swagger-ui.css'))],
  ]);
}

/** Those of the given operations that need no function: API Gateway's integration type `mock`. */
export function constantPages(operations: readonly Operation[]): ReadonlyMap<string, Page> {
  return new Map(
    operations.flatMap(({ path, aliases, gatewayAnswer }) =>
      gatewayAnswer
        ? [path, ...aliases].map((one) => [one, () => constant(gatewayAnswer.body)] as const)
        : [],
    ),
  );
}

const constant = (body: string): HttpResponse => ({
  status: 200,
  headers: new Map([
    ['content-type', ['application/json']],
    ['cache-control', ['no-store']],
  ]),
  body: Buffer.from(body),
});

const script = 'text/javascript; charset=utf-8';

function page(contentType: string, body: string | Uint8Array): HttpResponse {
  return {
    status: 200,
    headers: new Map(
      Object.entries({
        'content-type': contentType,
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      }).map(([name, value]) => [name, [value]]),
    ),
    body: Buffer.from(body),
  };
}

/** Nothing from elsewhere and nothing to elsewhere. Swagger UI sets styles by attribute, and its icons are data. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The package that is installed, never a CDN: the page works without a network. */
const swaggerUi = (file: string) =>
  readFileSync(join(dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')), file));

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Countersign: operations</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui.js"></script>
<script type="module" src="/docs/start.js"></script>
</body>
</html>
`;
