/** One test for each wrong configuration. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { ConfigError, type CountersignConfig } from '../../infra/stack/config.ts';
import { resolveConfig } from '../../infra/stack/resolve-config.ts';

/** As a deployer without a type checker could write them, each with its refusal. */
export type Refusals = readonly (readonly [what: string, config: unknown, sentence: RegExp])[];

export function testRefusals(refused: Refusals): void {
  for (const [what, config, sentence] of refused)
    test(`refused in one sentence: ${what}`, () => {
      assert.throws(
        () => resolveConfig(config as CountersignConfig),
        (error) => {
          assert.ok(error instanceof ConfigError);
          assert.match(error.message, sentence);
          assert.match(error.message, /^[^\n]+[.?]$/);
          return true;
        },
      );
    });
}
