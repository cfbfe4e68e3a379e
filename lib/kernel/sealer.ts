/** Encrypts the contents of a store, so that a copy of the store shows nothing. */

import { untilResolved } from './once.ts';

/** WebCrypto's `CryptoKey`, inferred from a value: Node's declarations name no such type. */
export type WebCryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Holds a key that cannot be read back. */
export interface Sealer {
  /** @param about names the subject of the bytes: they open with the same text alone */
  seal(bytes: Uint8Array, about: string): Promise<Uint8Array>;
  /** Undefined for bytes that were sealed with another key or another `about`, or not at all. */
  open(sealed: Uint8Array, about: string): Promise<Uint8Array | undefined>;
}

/** AES-GCM must not use a nonce twice: random ones of this length are safe for four billion seals of one key. */
const nonceBytes = 12;

const utf8 = (text: string) => new TextEncoder().encode(text);

/**
 * Seals with AES-256-GCM and a new nonce each time.
 *
 * @param makeKey is called when the key is first needed, and again after a rejection; `sealingKey` makes a key. `seal`
 * and `open` reject when it does.
 *
 * @example
 * const sealer = createSealer(() => sealingKey({ secret, salt: appKey, info: 'answers' }));
 * const sealed = await sealer.seal(new TextEncoder().encode('[]'), 'listAccounts');
 * await sealer.open(sealed, 'listAccounts'); // the bytes of '[]'
 */
export function createSealer(makeKey: () => Promise<WebCryptoKey>): Sealer {
  const key = untilResolved(makeKey);
  return {
    async seal(bytes, about) {
      const iv = crypto.getRandomValues(new Uint8Array(nonceBytes));
      const algorithm = { name: 'AES-GCM', iv, additionalData: utf8(about) };
      const sealed = await crypto.subtle.encrypt(algorithm, await key(), bytes as Uint8Array<ArrayBuffer>);
      const all = new Uint8Array(nonceBytes + sealed.byteLength);
      all.set(iv);
      all.set(new Uint8Array(sealed), nonceBytes);
      return all;
    },
    async open(sealed, about) {
      const iv = sealed.slice(0, nonceBytes);
      const algorithm = { name: 'AES-GCM', iv, additionalData: utf8(about) };
      const made = await key();
      try {
        return new Uint8Array(await crypto.subtle.decrypt(algorithm, made, sealed.slice(nonceBytes)));
      } catch {
        return undefined;
      }
    },
  };
}

/**
 * Derives a key with HKDF-SHA-256, so that it reveals nothing about other keys of the same secret.
 *
 * @param info what the key is for; each use has its own
 *
 * @example
 * const key = await sealingKey({ secret: appSecret, salt: appKey, info: 'answers' });
 */
export async function sealingKey({
  secret,
  salt,
  info,
}: {
  readonly secret: string;
  readonly salt: string;
  readonly info: string;
}): Promise<WebCryptoKey> {
  const imported = await crypto.subtle.importKey('raw', utf8(secret), 'HKDF', false, ['deriveKey']);
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: utf8(salt), info: utf8(info) };
  return crypto.subtle.deriveKey(derivation, imported, { name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ]);
}

export const sealJson = (sealer: Sealer, value: object, about: string): Promise<Uint8Array> =>
  sealer.seal(utf8(JSON.stringify(value)), about);

/** @returns undefined for bytes that were sealed with another key, or not at all */
export async function openJson<T>(sealer: Sealer, sealed: Uint8Array, about: string): Promise<T | undefined> {
  const bytes = await sealer.open(sealed, about);
  return bytes && (JSON.parse(new TextDecoder().decode(bytes)) as T);
}
