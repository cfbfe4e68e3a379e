/** The token in Authorization headers. */

import assert from 'node:assert/strict';
import { test } from 'vitest';
import { bearerToken } from '../../lib/access/index.ts';

const cases: readonly (readonly [values: readonly string[], result: string])[] = [
  [['Bearer abc.def.ghi'], 'abc.def.ghi'],
  [['bearer abc'], 'abc'],
  [['BEARER  abc'], 'abc'],
  [[], 'missing'],
  [['Bearer'], 'missing'],
  [['Bearer '], 'missing'],
  [[''], 'wrong_scheme'],
  [['abc.def.ghi'], 'wrong_scheme'],
  [['Basic YTpi'], 'wrong_scheme'],
  [['DPoP abc'], 'wrong_scheme'],
  [['Bearerabc'], 'wrong_scheme'],
  [['Bearer:abc'], 'wrong_scheme'],
  [['Bearers abc'], 'wrong_scheme'],
  [['Bearer\tabc'], 'wrong_scheme'],
  [[' Bearer abc'], 'wrong_scheme'],
  [['Bearer\u00a0abc'], 'wrong_scheme'],
  [['AWS4-HMAC-SHA256 Credential=a, Signature=b'], 'wrong_scheme'],
  [['Bearer abc', 'Bearer abc'], 'several_tokens'],
  [['Bearer abc', 'Basic YTpi'], 'several_tokens'],
  [['Bearer abc, Bearer def'], 'malformed'],
  [['Bearer abc def'], 'malformed'],
  [['Bearer abc\u00a0def'], 'malformed'],
];

for (const [values, result] of cases)
  test(JSON.stringify(values), () => {
    const bearer = bearerToken(values);
    assert.equal(bearer.ok ? bearer.token : bearer.fault, result);
  });
