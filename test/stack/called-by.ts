/** What the code of the stores calls in AWS, which their functions must be allowed. */

import { readFileSync } from 'node:fs';

/** A file of `functions/aws`, by its name without ending. */
export const codeOf = (name: string) =>
  readFileSync(new URL(`../../functions/aws/${name}.ts`, import.meta.url), 'utf8');

/** Each action once, sorted. */
export const actionsIn = (code: string): readonly string[] =>
  [...new Set([...code.matchAll(/\.send\(\s*'(\w+)'/g)].map(([, action = '']) => action))].sort();

export const calledBy = (...names: readonly string[]) => actionsIn(names.map(codeOf).join(''));
