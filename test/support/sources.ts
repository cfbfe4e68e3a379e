/** Which files are source: not what is installed, built or synthesized among them. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bundle.ts';

/** By their paths from the repository's root. */
export function* sourcesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (/^(node_modules|\..*|cdk\.out)$/.test(entry.name)) continue;
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* sourcesIn(path);
    else if (/\.[cm]?[jt]sx?$/.test(entry.name)) yield path;
  }
}
