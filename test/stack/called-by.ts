/** What the code of the stores calls in AWS, which their functions must be allowed. */

import { readFileSync } from 'node:fs';

/** A file of `functions/aws`, by its name without ending. */
export const codeOf = (name: string) =>
  readFileSync(new URL(`../../functions/aws/${name}.ts`, import.meta.url), 'utf8');

/** What stores call through another file. */
const helpers = new Map([
  ['batchGet', 'BatchGetItem'],
  ['batchGetOf', 'BatchGetItem'],
  ['readOnce', 'BatchGetItem'],
  ['queryAll', 'Query'],
  ['queryPages', 'Query'],
  ['transact', 'TransactWriteItems'],
]);

/** Each action once, sorted. */
export function actionsIn(code: string): readonly string[] {
  const sent = [...code.matchAll(/\.send\(\s*'(\w+)'/g)].map(([, action = '']) => action);
  const helped = [...code.matchAll(/\b(\w+)\(/g)].flatMap(([, name = '']) => helpers.get(name) ?? []);
  return [...new Set([...sent, ...helped])].sort();
}

export const calledBy = (...names: readonly string[]) => actionsIn(names.map(codeOf).join(''));
