/** What each entry of the package costs who bundles all of it: bytes, minified and zipped. */

import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { entries, sourceOf } from '../../infra/package/entries.ts';
import { bundle } from '../support/bundle.ts';

/** The most that each may have; what a program has anyway, and the functions of the CDK app, are left out. */
const budgets: Readonly<Record<string, number>> = {
  './signer': 2750,
  './verifier': 2000,
  './client': 14_800,
  './catalogue': 28_500,
  './limiter': 10_100,
  './orders': 18_250,
  './gateway': 102_700,
  './live': 36_050,
  './fetch': 4_500,
  './node': 5_850,
  './aws': 214_600,
  './cdk': 87_000,
  './access': 13_400,
  './events': 11_350,
  './trade-events': 32_850,
  './simulator': 129_500,
};

/** Of a program that imports everything: who names what it needs has less. */
async function sizeOf(source: string): Promise<number> {
  const { bytes } = await bundle(`export * from './${source}'`, {
    minify: true,
    platform: 'node',
    legalComments: 'none',
    external: ['aws-cdk-lib', 'aws-cdk-lib/*', 'constructs', '@aws-sdk/*'],
  });
  return gzipSync(bytes).length;
}

test('each entry is within its budget', async () => {
  const sizes: Record<string, number> = {};
  for (const entry of entries().filter(({ name }) => name !== '.'))
    sizes[entry.name] = await sizeOf(sourceOf(entry));
  console.log(JSON.stringify(sizes));
  assert.deepEqual(Object.keys(budgets).sort(), Object.keys(sizes).sort());
  for (const [name, size] of Object.entries(sizes))
    expect(size, name).toBeLessThanOrEqual(budgets[name] ?? 0);
});
