/** Entries of the package, read from `package.json`. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

export interface PackageEntry {
  /** Name such as `./signer`; `.` is the root. */
  readonly name: string;
  /** Path of the built module from the package's root, without an extension: `dist/lib/signer/index`. */
  readonly path: string;
}

/** Lists the entries that are modules with a source; those of a pattern are made by the build. */
export function entries(): readonly PackageEntry[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  return Object.entries(exports).flatMap(([name, target]) =>
    typeof target === 'string' || name.includes('*')
      ? []
      : [{ name, path: target.default.replace(/^\.\/(.*)\.js$/, '$1') }],
  );
}

/** Source of an entry, from the root of the repository. */
export const sourceOf = ({ path }: PackageEntry): string => path.replace(/^dist\/(.*)$/, '$1.ts');
