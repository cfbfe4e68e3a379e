/**
 * Bundles the entries `countersign/client/<group>`, for apps whose bundler keeps everything of a module that they import,
 * as Metro does. Each has the client and the operations of one group, without what a client never reads: schemas of
 * answers, notes, examples, descriptions. Parts that entries share are files of their own, so that two groups bring one client.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type AnyNode, parse } from 'acorn';
import { build, type Plugin } from 'esbuild';
import { groups } from '../../lib/catalogue/index.ts';
import type { PackageEntry } from './entries.ts';
import { declaredOperations } from './entry-declarations.ts';
import { childrenOf } from './pure-calls.ts';

/** Offered by each entry: what an app behind a gateway needs beside operations. */
const clientNames = [
  'BrokenAnswerError',
  'InvalidRequestError',
  'OutcomeUnknownError',
  'RefusedError',
  'TimedOutError',
  'UnreachableError',
  'createClient',
  'isClientError',
  'recordsIn',
  'reported',
  'viaGateway',
];

/** Names that each entry exports, by its name. */
const namesOf: Readonly<Record<string, readonly string[]>> = {
  live: ['follow', 'streamStockSnapshots'],
  ...Object.fromEntries(
    Object.keys(groups).map((group) => [
      group,
      [...clientNames, ...declaredOperations.filter((one) => one.group === group).map(({ id }) => id)],
    ]),
  ),
};

/** @param folder of the built package, which contains `dist` @returns the written entries */
export async function writeClientGroups(folder: string): Promise<readonly PackageEntry[]> {
  const outdir = join(folder, 'dist/client');
  mkdirSync(outdir, { recursive: true });
  const sources = new Map([...sourcesIn(folder, 'client'), ...sourcesIn(folder, 'catalogue')]);
  const entryPoints = Object.entries(namesOf).map(([name, names]) => {
    const text = names.map((one) => `export { ${one} } from '${sources.get(one)}';\n`).join('');
    const path = join(outdir, name);
    writeFileSync(`${path}.js`, text);
    writeFileSync(`${path}.d.ts`, text);
    return `${path}.js`;
  });
  await build({
    entryPoints,
    outdir,
    allowOverwrite: true,
    bundle: true,
    splitting: true,
    chunkNames: 'part-[hash]',
    format: 'esm',
    target: 'es2022',
    minify: true,
    plugins: [clientMembers],
    logLevel: 'error',
  });
  return Object.keys(namesOf).map((name) => ({ name: `./client/${name}`, path: `dist/client/${name}` }));
}

/** Files that declare what an entry exports, by name: a shared file with all of them would bring each operation. */
const sourcesIn = (folder: string, entry: string): (readonly [name: string, path: string])[] =>
  [
    ...readFileSync(join(folder, `dist/lib/${entry}/index.js`), 'utf8').matchAll(
      /^export \{([^}]*)\} from '([^']+)';/gm,
    ),
  ].flatMap(([, names = '', path = '']) =>
    names.split(',').map((name) => [name.trim(), `../lib/${posix.join(entry, path)}`] as const),
  );

const clientMembers: Plugin = {
  name: 'client-members',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]dist[\\/]lib[\\/]catalogue[\\/].*\.js$/ }, ({ path }) => ({
      contents: withoutUnread(readFileSync(path, 'utf8')),
    }));
  },
};

const unreadMembers =
  /^(accounts|aliases|decisions|deprecated|endpointKind|example|freshness|gatewayAnswer|limit|notes|recordBytes|response|sources|title)$/;

/** Cuts members of operations, and texts of schemas and parameters, out of a module of the catalogue. */
function withoutUnread(code: string): string {
  let kept = '';
  let end = 0;
  for (const cut of unreadNodes(parse(code, { ecmaVersion: 2022, sourceType: 'module' }))) {
    kept += code.slice(end, cut.start);
    end = cut.end + (/^\s*,/.exec(code.slice(cut.end))?.[0].length ?? 0);
  }
  return kept + code.slice(end);
}

function* unreadNodes(node: AnyNode, isOperation = false): Generator<AnyNode> {
  for (const [, child] of childrenOf(node))
    if (isUnread(child, isOperation)) yield child;
    else yield* unreadNodes(child, node.type === 'CallExpression' && nameOf(node.callee) === 'describe');
}

function isUnread(node: AnyNode, isOperation: boolean): boolean {
  if (node.type === 'CallExpression')
    return (
      node.callee.type === 'MemberExpression' &&
      /^(description|metadata|title)$/.test(nameOf(node.callee.property))
    );
  if (node.type !== 'Property') return false;
  const name = nameOf(node.key);
  return isOperation ? unreadMembers.test(name) : name === 'description' && isText(node.value);
}

const nameOf = (node: AnyNode): string => (node.type === 'Identifier' ? node.name : '');
const isText = ({ type }: AnyNode): boolean => type === 'Literal' || type === 'TemplateLiteral';
