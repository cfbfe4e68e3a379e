/**
 * Files of the page: one script, one style sheet, one document. The local run builds them when `/` is first asked for, the
 * package contains them, and the step `page` of `infra/package/main.ts` writes them for a deployed gateway.
 */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface PageFiles {
  readonly 'index.html': string;
  readonly 'page.js': string;
  readonly 'page.css': string;
}

/** Folder of the sources, in a clone. */
const sourceFolder = join(import.meta.dirname, 'page');
/** Folder of the built files in the package, beside the command's bundle. */
const builtFolder = join(import.meta.dirname, 'page-files');

/** Reads the package's files, or builds them. */
export async function pageFiles(): Promise<PageFiles> {
  return existsSync(builtFolder) ? readFiles(builtFolder, 'page.js') : buildPage();
}

async function buildPage(): Promise<PageFiles> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [join(sourceFolder, 'main.tsx')],
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2022', 'chrome120', 'firefox120', 'safari17'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    write: false,
    logLevel: 'warning',
  });
  return { ...readFiles(sourceFolder), 'page.js': outputFiles[0]?.text ?? '' };
}

function readFiles(folder: string, ...more: 'page.js'[]): PageFiles {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return {
    'index.html': read('index.html'),
    'page.css': read('page.css'),
    'page.js': more.length > 0 ? read('page.js') : '',
  };
}

interface HostedPage {
  /** `https://api.example.com` */
  readonly gateway: string;
  /** Issuer of the users' tokens; without it users cannot sign in. */
  readonly issuer?: string;
  readonly clientId?: string;
}

/** Content security policy: nothing from elsewhere, and calls to these origins alone. */
const policyOf = (...connect: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    'img-src data:',
    `connect-src ${["'self'", ...connect].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

/** Policy of the local run, whose header can forbid frames; a document's own policy cannot. */
export const localPolicy = `${policyOf()}; frame-ancestors 'none'`;

const referenceLink = '<a href="/docs">Reference</a>';

export const localDocument = ({ 'index.html': html }: PageFiles): string =>
  html.replace('<!-- settings -->\n', '').replace('<!-- reference -->', referenceLink);

/** @throws TypeError for an invalid address */
function hostedDocument({ 'index.html': html }: PageFiles, hosted: HostedPage): string {
  const { gateway, issuer, clientId } = hosted;
  const origins = [gateway, ...(issuer ? [issuer] : [])].map((address) => new URL(address).origin);
  const settings = { gateway: gateway.replace(/\/+$/, ''), issuer, 'client-id': clientId };
  const metas = Object.entries(settings).flatMap(([name, value]) =>
    value ? [`<meta name="${name}" content="${escapeHtml(value)}">`] : [],
  );
  const policy = `<meta http-equiv="content-security-policy" content="${policyOf(...origins)}">`;
  return html.replace('<!-- settings -->', [policy, ...metas].join('\n')).replace('<!-- reference -->\n', '');
}

const escapeHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** @param hosted the deployed gateway; without it the document has no policy or settings */
export async function writePage(folder: string, hosted?: HostedPage): Promise<void> {
  const files = await buildPage();
  mkdirSync(folder, { recursive: true });
  const all = hosted ? { ...files, 'index.html': hostedDocument(files, hosted) } : files;
  for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text);
}
