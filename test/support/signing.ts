/** What the signer's tests share: fixed credentials, clock and nonce. */

import assert from 'node:assert/strict';
import { createSigner, SignError, type SignErrorCode, type SignInput } from '../../lib/signer/index.ts';

export const appKey = 'test-app-key';
export const appSecret = 'test-app-secret';
/** 2026-11-17T09:30:00Z */
export const now = Date.UTC(2026, 10, 17, 9, 30);
export const timestamp = '2026-11-17T09:30:00Z';
export const nonce = 'test-nonce';
export const base = 'https://api.example.com';

/** Signs alike each time. */
export const fixedSigner = createSigner({ appKey, appSecret, clock: () => now, nonce: () => nonce });

/** What untyped callers can get wrong. */
export const untyped = (input: unknown) => input as SignInput;

export async function rejectsWith(code: SignErrorCode, call: () => unknown): Promise<SignError> {
  let caught: unknown;
  await assert.rejects(
    async () => call(),
    (error) => {
      caught = error;
      return true;
    },
  );
  assert.ok(caught instanceof SignError, `not a SignError: ${caught}`);
  assert.equal(caught.code, code, caught.message);
  assert.notEqual(caught.message, '');
  return caught;
}
