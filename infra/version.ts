/** Version of this package, from the package.json above: built and bundled files lie deeper than their sources. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @example versionOf() // '0.1.0' */
export function versionOf(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return String(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version);
}
