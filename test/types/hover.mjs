/**
 * What an editor shows of the typed client: asked of TypeScript's language service, as editors do. Prints JSON.
 *
 *     node hover.mjs FOLDER OPERATION…
 *
 * The folder has the built package among its node_modules.
 */

import { join } from 'node:path';
import ts from 'typescript-5.9';

const [folder = '.', ...ids] = process.argv.slice(2);
const file = join(folder, 'hover.ts');
const text = `
import { createClient, viaGateway } from 'countersign/client';
import * as catalogue from 'countersign/catalogue';
import { ${ids.join(', ')} } from 'countersign/catalogue';
const connection = viaGateway({ baseUrl: 'https://example.com' });
const some = createClient({ ${ids.join(', ')} }, connection);
const all = createClient(catalogue, connection);
export function calls(any: never) {
${ids.map((id) => `  some.${id}(any);\n  all.${id}(any);`).join('\n')}
}
`;

const service = ts.createLanguageService({
  getCompilationSettings: () => ({
    strict: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
  }),
  getScriptFileNames: () => [file],
  getScriptVersion: () => '1',
  getScriptSnapshot: (name) => {
    const found = name === file ? text : ts.sys.readFile(name);
    return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found);
  },
  getCurrentDirectory: () => folder,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: (name) => name === file || ts.sys.fileExists(name),
  readFile: ts.sys.readFile,
  directoryExists: ts.sys.directoryExists,
  realpath: ts.sys.realpath,
});
const program = service.getProgram();
const checker = program.getTypeChecker();
const plain = (parts) => (parts ?? []).map((part) => part.text).join('');

/** Names of what has no text, and how many there are in all. */
const operations = { total: 0, without: [] };
const parameters = { total: 0, without: [] };
const members = { total: 0, without: [] };
/** What an editor shows of types: a method's signature, and each member with its type. */
const shown = {};

function count(share, name, documentation) {
  share.total++;
  if (plain(documentation) === '') share.without.push(name);
}

const isLibrary = (symbol) =>
  symbol?.declarations?.some((one) => program.isSourceFileDefaultLibrary(one.getSourceFile())) ?? false;

/** Every member that the type names, however deep, each type once. */
function walk(type, path, seen, share) {
  if (!type || seen.has(type)) return;
  seen.add(type);
  if (type.isUnion()) for (const one of type.types) walk(one, path, seen, share);
  const element = checker.getIndexTypeOfType(type, ts.IndexKind.Number);
  const isText = type.isIntersection() && type.types.some((one) => one.flags & ts.TypeFlags.String);
  if (element) walk(element, path, seen, share);
  if (element || isText || isLibrary(type.getSymbol())) return;
  if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return;
  for (const member of checker.getPropertiesOfType(type)) {
    const name = `${path}.${member.name}`;
    const inner = checker.getNonNullableType(checker.getTypeOfSymbol(member));
    count(share, name, member.getDocumentationComment(checker));
    shown[name] = checker.typeToString(inner, undefined, ts.TypeFormatFlags.NoTruncation);
    walk(inner, name, seen, share);
  }
  walk(checker.getIndexTypeOfType(type, ts.IndexKind.String), path, seen, share);
}

const source = program.getSourceFile(file);
const body = source.statements.find(ts.isFunctionDeclaration).body;
for (const { expression } of body.statements) {
  const { name, expression: client } = expression.expression;
  const id = `${client.text}.${name.text}`;
  const info = service.getQuickInfoAtPosition(file, name.getStart(source));
  count(operations, id, info?.documentation);
  shown[id] = plain(info?.displayParts);
  if (client.text === 'all') continue;
  const signature = checker.getResolvedSignature(expression);
  const [input] = signature.parameters;
  const given = input && checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(input, expression));
  walk(given, name.text, new Set(), parameters);
  walk(checker.getAwaitedType(signature.getReturnType()), name.text, new Set(), members);
}

console.log(JSON.stringify({ operations, parameters, members, shown }));
