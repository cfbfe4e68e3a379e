/**
 * What the local run serves without a key: the operations that a gateway answers with a constant, as a deployment
 * does; and, beside the API, the page that shows it, its OpenAPI document and Swagger UI to read it and to try calls, which
 * no deployment has.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Group, type Operation, openable, operations } from '../../lib/catalogue/index.ts';
import { refusalResponse } from '../../lib/gateway/index.ts';
import { onDemand } from '../../lib/kernel/once.ts';
import { type Fault, faultsInWords } from '../../lib/problem.ts';
import { askedOfDocument, type DocumentForm, documentForm } from '../open-api/document-form.ts';
import { localDocument, localPolicy, type PageFiles, pageFiles } from '../page-bundle.ts';
import type { HttpResponse } from './proxy-result.ts';

export interface PageRequest {
  readonly query: URLSearchParams;
  /** The header, as it is. */
  readonly accept: string | undefined;
  readonly requestId: string;
}

/** Made when it is asked for. @returns undefined where there is nothing for this request */
export type Page = (request: PageRequest) => HttpResponse | undefined | Promise<HttpResponse>;

/** Answers a form that was sent. @param accept the header, as it is */
export type FormPage = (fields: URLSearchParams, accept: string | undefined) => Promise<HttpResponse>;

export interface PagesOptions {
  /** Of OpenAPI; the address of this run is known when it is asked for. */
  readonly document: (form: DocumentForm) => unknown;
  /** What the run opens. */
  readonly open: readonly Group[];
}

export function createPages({ document, open }: PagesOptions): ReadonlyMap<string, Page> {
  const made = new Map<string, string>();
  const openApiText = (form: DocumentForm) => {
    const name = JSON.stringify(form);
    const text = made.get(name) ?? JSON.stringify(document(form));
    made.set(name, text);
    return text;
  };
  const files = onDemand(pageFiles);
  const ofPage = async (name: keyof PageFiles): Promise<HttpResponse> => {
    const all = await files();
    return page(types[name], name === 'index.html' ? localDocument(all) : all[name], localPolicy);
  };
  return new Map<string, Page>([
    ['/', ({ accept }) => (accept?.includes('text/html') ? ofPage('index.html') : undefined)],
    ['/page.js', () => ofPage('page.js')],
    ['/page.css', () => ofPage('page.css')],
    ['/openapi.json', (request) => openApi(request, openApiText)],
    ['/docs', () => (hasSwaggerUi() ? page('text/html; charset=utf-8', htmlOf(open)) : withoutSwaggerUi)],
    ['/docs/start.js', () => page(script, readFileSync(join(import.meta.dirname, 'docs-start.js')))],
    ['/docs/swagger-ui.js', () => page(script, swaggerUi('swagger-ui-bundle.js'))],
    ['/docs/swagger-ui.css', () => page('text/css; charset=utf-8', swaggerUi('swagger-ui.css'))],
  ]);
}

/** A form that there is not is refused: the document in another one would go unnoticed into a generator. */
function openApi({ query, accept, requestId }: PageRequest, textOf: (form: DocumentForm) => string) {
  const asked = Object.fromEntries(query);
  const form = documentForm(asked);
  const errors: readonly Fault[] = [...query.keys()].flatMap((name, index, names) => {
    if (!Object.hasOwn(askedOfDocument, name))
      return [
        { in: 'query', name, detail: 'no parameter', allowed: Object.keys(askedOfDocument).join(', ') },
      ];
    if (names.indexOf(name) < index) return [{ in: 'query', name, detail: 'given twice' }];
    const known = name as keyof typeof askedOfDocument;
    if (documentForm({ [known]: asked[known] })) return [];
    return [{ in: 'query', name, detail: 'not an allowed value', allowed: askedOfDocument[known] }];
  });
  if (form && errors.length === 0) return page('application/json', textOf(form));
  const refusal = { code: 'invalid_parameter', detail: faultsInWords(errors), errors } as const;
  const { status, headers, body } = refusalResponse(refusal, requestId, accept);
  return { status, headers: new Map(Object.entries(headers).map(([name, value]) => [name, [value]])), body };
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
const types: Readonly<Record<keyof PageFiles, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'page.js': script,
  'page.css': 'text/css; charset=utf-8',
};

function page(contentType: string, body: string | Uint8Array, policy = policyOfReference): HttpResponse {
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
const policyOfReference = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const withoutSwaggerUi = page(
  'text/plain; charset=utf-8',
  'This page needs Swagger UI: run npm install swagger-ui-dist, and start again. /openapi.json has the document.\n',
);

/** The package that is installed, never a CDN: the page works without a network. */
const swaggerUiFolder = () => dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const swaggerUi = (file: string) => readFileSync(join(swaggerUiFolder(), file));

/** The package of the command does not bring its 12 MB along. */
function hasSwaggerUi(): boolean {
  try {
    return swaggerUiFolder() !== '';
  } catch {
    return false;
  }
}

/** With the groups that are open, by name: a closed one is not among the operations below. */
function htmlOf(open: readonly Group[]): string {
  // A group of which the catalogue has no operation has nothing to open.
  const all = openable.filter((group) => operations.some((operation) => operation.group === group));
  const named = (isOpen: boolean) =>
    all.filter((group) => open.includes(group) === isOpen).join(', ') || 'none';
  return html.replace(
    '<!-- groups -->',
    `Open groups: ${named(true)}. Closed: ${named(false)} (OPEN_GROUPS says which are open).`,
  );
}

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Countersign: operations</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<style>
.run { font: 14px sans-serif; max-width: 1460px; margin: 1em auto 0; padding: 0 20px; }
.run p { margin: 0 0 .5em; }
@media (prefers-color-scheme: dark) {
  html { background: #14171c; color: #e6e9ee; color-scheme: dark; }
  .run a { color: #7db2ff; }
  /* Swagger UI has light colours alone. */
  #reference { background: #fff; filter: invert(0.9) hue-rotate(180deg); }
}
.fold { font: 14px sans-serif; text-align: left; padding: 0; border: 0; background: none; cursor: pointer; }
</style>
</head>
<body>
<div class="run"><p><a href="/">The page that shows it at work</a></p><p id="groups"><!-- groups --></p><p id="key-note" role="status"></p></div>
<div id="reference"></div>
<script src="/docs/swagger-ui.js"></script>
<script type="module" src="/docs/start.js"></script>
</body>
</html>
`;
