/**
 * Writes files for `require` beside each entry's module. Entries that apps and their tests import are CommonJS throughout,
 * because Jest and older bundlers cannot load an ES module from `require`; a program that also imports them has each class
 * twice, and recognises an error by its `code`. The others load the module itself, so that each store and class exists once;
 * Node can do so from 20.19 and 22.12 on. A file `.d.cts` declares the same names for the compiler, because `require` gets
 * nothing but types from a module's own declarations (TS1479).
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import { entries, type PackageEntry } from './entries.ts';

/** Entries whose modules have a CommonJS form, which costs 0.4 MB; the remaining entries would cost 1.1 MB. */
const commonJs = /^\.(\/(signer|verifier|client|catalogue|events)(\/.*)?)?$/;

/** @param folder of the built package, which contains `dist`; @param groups are entries that only the build has */
export async function writeForRequire(folder: string, groups: readonly PackageEntry[]): Promise<void> {
  const written = new Set<string>();
  for (const { name, path } of [...entries(), ...groups]) {
    if (written.has(path)) continue;
    written.add(path);
    const module = `./${basename(path)}.js`;
    const file = join(folder, path);
    const values = (await import(pathToFileURL(`${file}.js`).href)) as Record<string, unknown>;
    writeFileSync(`${file}.d.cts`, declarationsOf(module, values));
    if (commonJs.test(name)) writeCommonJs(`${file}.js`, written);
    else writeFileSync(`${file}.cjs`, `module.exports = require('${module}');\n`);
  }
}

/** Converts a module and all that it imports from the package. */
function writeCommonJs(file: string, written: Set<string>): void {
  if (written.has(file)) return;
  written.add(file);
  const { code } = transformSync(readFileSync(file, 'utf8'), {
    format: 'cjs',
    platform: 'node',
    target: 'es2022',
    minifyWhitespace: true,
  });
  const converted = code.replaceAll(/\brequire\("(\.[^"]+)\.js"\)/g, (_, path: string) => {
    writeCommonJs(join(dirname(file), `${path}.js`), written);
    return `require("${path}.cjs")`;
  });
  writeFileSync(file.replace(/js$/, 'cjs'), converted);
}

const declarationsOf = (module: string, values: Readonly<Record<string, unknown>>) =>
  `import type * as entry from '${module}' with { 'resolution-mode': 'import' };
export type * from '${module}' with { 'resolution-mode': 'import' };
${Object.entries(values)
  .sort(([one], [other]) => (one < other ? -1 : 1))
  .map(([name, value]) => declarationOf(name, value))
  .join('\n')}
`;

/** Declares a class's type, too, which the constant of the same name would hide. */
const declarationOf = (name: string, value: unknown) =>
  `export declare const ${name}: typeof entry.${name};${
    typeof value === 'function' && /^class\b/.test(String(value))
      ? `\nexport type ${name} = entry.${name};`
      : ''
  }`;
