/** The package as it is published, in a folder of the caller's, as `npm install` would put it there. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/bundle.ts';

export interface Packed {
  readonly tarball: string;
  /** Where its files are. */
  readonly folder: string;
  readonly manifest: Readonly<Record<string, unknown>>;
}

/** Below `folder`, whose own dependencies are those of the repository. @param source what is packed */
export function pack(folder: string, source = root): Packed {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: source });
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as {
    readonly name: string;
  };
  const tarball = join(
    folder,
    readdirSync(folder).find((name) => name.startsWith(`${manifest.name}-0`)) ?? '',
  );
  const modules = join(folder, 'node_modules');
  mkdirSync(modules, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', modules]);
  const installed = join(modules, manifest.name);
  renameSync(join(modules, 'package'), installed);
  return { tarball, folder: installed, manifest };
}
