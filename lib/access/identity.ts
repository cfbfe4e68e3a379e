/** Derivatives of the identity key: names that reveal nothing without it, and the seal of the directory's records. */

import { base64url } from '../kernel/key-text.ts';
import { untilResolved } from '../kernel/once.ts';
import { createSealer, type Sealer, sealingKey } from '../kernel/sealer.ts';
import type { KeyedNames } from './directory.ts';
import type { Principal } from './evidence.ts';

export interface Identity {
  readonly names: KeyedNames;
  readonly sealer: Sealer;
}

/** In characters. A shorter text may be a password, which can be guessed. */
const minKeyLength = 32;

/** Bytes of the HMAC in a name: enough to be unique, and short in a log line. */
const nameBytes = 16;

/**
 * Creates names and seal of one identity key. The same key gives the same names everywhere and at all times. Never replace
 * it: with another key no record opens, and the names in the logs change.
 *
 * @param readKey is called when the key is first needed, and again after a rejection. The key has at least 32 random
 * characters; with a shorter one every name and seal rejects with a TypeError.
 *
 * @example
 * const identity = createIdentity(async () => identityKey);
 * await identity.names.nameOf('account', '1234567'); // e.g. 'q0Zb…', 22 characters
 */
export function createIdentity(readKey: () => Promise<string>): Identity {
  const key = untilResolved(async () => {
    const text = await readKey();
    if (text.length < minKeyLength)
      throw new TypeError(`identity key: at least ${minKeyLength} random characters`);
    return text;
  });
  const hmacKey = untilResolved(async () =>
    crypto.subtle.importKey('raw', utf8(await key()), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']),
  );
  return {
    names: {
      async nameOf(...texts) {
        // JSON, so that two different lists of texts never make the same message.
        const message = utf8(JSON.stringify(texts));
        const digest = await crypto.subtle.sign('HMAC', await hmacKey(), message);
        return base64url(new Uint8Array(digest, 0, nameBytes));
      },
    },
    sealer: createSealer(async () =>
      sealingKey({ secret: await key(), salt: '', info: 'countersign: users at rest' }),
    ),
  };
}

const utf8 = (text: string) => new TextEncoder().encode(text);

/**
 * The name of a principal in logs and in the directory's store.
 *
 * @example
 * await nameOfPrincipal(names, { kind: 'key', id: 'a1b2c3' });
 */
export const nameOfPrincipal = (names: KeyedNames, principal: Principal): Promise<string> =>
  names.nameOf('user', principal.kind, ...textsOf(principal));

function textsOf(principal: Principal): readonly string[] {
  switch (principal.kind) {
    case 'user':
      return [principal.issuer, principal.subject];
    case 'key':
      return [principal.id];
    case 'iam':
      return [principal.arn];
    case 'source':
      return [principal.name];
  }
}
