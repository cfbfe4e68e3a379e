/** The functions of an earlier commit, as one module: out of the repository’s history, without a network. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle, load, root } from './bundle.ts';

/** The version whose functions run beside those of today: an upgrade from it is promised. */
export const earlierCommit = '94fb2f0f0364';

/** In words what is missing, or undefined when the history has the commit. */
export function withoutHistory(commit = earlierCommit): string | undefined {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root, stdio: 'ignore' });
    return undefined;
  } catch {
    return `The history is missing: git fetch --unshallow, in a clone that has the commit ${commit}`;
  }
}

/** @param code may import from the repository's root, as it was then */
export async function ofCommit(code: string, commit = earlierCommit): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-earlier-'));
  try {
    const archive = execFileSync('git', ['archive', commit, 'lib', 'functions', 'package.json'], {
      cwd: root,
      maxBuffer: 1e8,
    });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    const stdin = { contents: code, resolveDir: folder, loader: 'ts' } as const;
    const nodePaths = [join(root, 'node_modules')];
    const { text } = await bundle('', { stdin, absWorkingDir: folder, nodePaths, platform: 'node' });
    return await load(text);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
