/** Reference of the local run: how to call it, and Swagger UI to read and try each operation. No deployment has it. */

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { type Group, openable, operations } from '../../lib/catalogue/index.ts';
import { type LocalPage, page } from './page-answer.ts';

interface ReferenceParts {
  /** Returns the document that it shows, as JSON. */
  readonly document: () => string;
  /** Groups that the run opens. */
  readonly open: readonly Group[];
}

export function referencePages({ document, open }: ReferenceParts): ReadonlyMap<string, LocalPage> {
  const own = readdirSync(folder).filter((name) => name !== indexFile);
  return new Map<string, LocalPage>([
    ['/docs', () => (hasSwaggerUi() ? pageAnswer('.html', htmlOf(open)) : withoutSwaggerUi)],
    ['/docs/openapi.json', () => pageAnswer('.json', document())],
    ...own.map((name) => [`/docs/${name}`, () => pageAnswer(extname(name), readPageFile(name))] as const),
    ['/docs/swagger-ui.js', () => pageAnswer('.js', swaggerUi('swagger-ui-bundle.js'))],
    ['/docs/swagger-ui.css', () => pageAnswer('.css', swaggerUi('swagger-ui.css'))],
  ]);
}

/** Folder beside the code, in a clone and in the package. */
const folder = join(import.meta.dirname, 'reference-page');
const indexFile = 'index.html';
const readPageFile = (name: string) => readFileSync(join(folder, name), 'utf8');

const pageAnswer = (kind: string, body: string | Uint8Array) => page(kind, body, policy);

/** Policy: nothing from elsewhere and nothing to elsewhere. Swagger UI sets styles by attribute, and its icons are data. */
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

const withoutSwaggerUi = pageAnswer(
  '.txt',
  'This page needs Swagger UI: run npm install swagger-ui-dist, and start again. /openapi.json has the document.\n',
);

/** Folder of the installed package, never a CDN: the page works without a network. */
const swaggerUiFolder = () => dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const swaggerUi = (file: string) => readFileSync(join(swaggerUiFolder(), file));

/** Tells whether Swagger UI is installed; its 12 MB are not in the command's package. */
function hasSwaggerUi(): boolean {
  try {
    return swaggerUiFolder() !== '';
  } catch {
    return false;
  }
}

/** Page with the names of the open groups; the operations of a closed one are missing below. */
function htmlOf(open: readonly Group[]): string {
  // A group without an operation in the catalogue has nothing to open.
  const all = openable.filter((group) => operations.some((operation) => operation.group === group));
  const groupNames = (isOpen: boolean) =>
    all.filter((group) => open.includes(group) === isOpen).join(', ') || 'none';
  return readPageFile(indexFile).replace(
    '<!-- groups -->',
    `Open groups: ${groupNames(true)}. Closed: ${groupNames(false)} (OPEN_GROUPS says which are open).`,
  );
}
