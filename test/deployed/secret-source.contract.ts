/** What every secret source must do. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'vitest';
import type { SecretSource } from '../../lib/gateway/index.ts';

export interface SourceUnderTest {
  readonly source: SecretSource;
  set(text: string): void;
  setDown(down: boolean): void;
}

export function secretSourceContract(
  name: string,
  create: (t: TestContext) => SourceUnderTest | Promise<SourceUnderTest>,
): void {
  const check = (what: string, run: (subject: SourceUnderTest) => Promise<void>) =>
    test(`${name}: ${what}`, async (t) => run(await create(t)));

  check('a secret that was never set has no text, which is no failure', async ({ source }) => {
    assert.equal(await source.read(), undefined);
    assert.equal(await source.read('current'), undefined);
    assert.equal(await source.read('previous'), undefined);
  });

  check('the text comes back as it was set, and is read each time', async ({ source, set }) => {
    for (const text of ['{"app_key":"k"}', ' Zoë \u{1F511}\n', '{ }']) {
      set(text);
      assert.equal(await source.read(), text);
    }
  });

  check('previous is what was current before', async ({ source, set }) => {
    set('first');
    assert.equal(await source.read('previous'), undefined);
    set('second');
    assert.equal(await source.read('previous'), 'first');
    set('third');
    assert.equal(await source.read('previous'), 'second');
    assert.equal(await source.read('current'), 'third');
  });

  check('a source that cannot be asked rejects, and answers when it can again', async (subject) => {
    const { source, set, setDown } = subject;
    set('text');
    setDown(true);
    await assert.rejects(source.read());
    await assert.rejects(source.read('previous'));
    setDown(false);
    assert.equal(await source.read(), 'text');
  });
}
