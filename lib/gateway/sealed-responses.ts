/**
 * Account data in a store of all instances: sealed with a key that is made of the app secret. So a copy of the table
 * shows no account's data, and no other app key reads it.
 */

import type { ResponseStore, StoredResponse } from '../cache/responses/index.ts';

/** Holds a key that cannot be read back. */
export interface Sealer {
  /** @param about what the bytes are about: they open with the same text alone */
  seal(bytes: Uint8Array, about: string): Promise<Uint8Array>;
  /** Undefined for what another key, or nobody, has sealed. */
  open(sealed: Uint8Array, about: string): Promise<Uint8Array | undefined>;
}

/** AES-GCM wants no nonce twice: random ones of this length are good for four billion answers of one app secret. */
const nonceBytes = 12;

const utf8 = (text: string) => new TextEncoder().encode(text);

/**
 * The key is HKDF-SHA-256 of the app secret, with the app key as salt, so that it says nothing about the key that signs.
 *
 * @example
 * const sealer = createSealer({ appKey, appSecret });
 * const sealed = await sealer.seal(new TextEncoder().encode('[]'), 'listAccounts');
 * await sealer.open(sealed, 'listAccounts'); // the bytes of '[]'
 */
export function createSealer({
  appKey,
  appSecret,
}: {
  readonly appKey: string;
  readonly appSecret: string;
}): Sealer {
  let made: Promise<CryptoKey> | undefined;
  // Made when it is needed first: most functions have no account data.
  const key = () => {
    made ??= makeKey(appKey, appSecret);
    return made;
  };
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
      try {
        return new Uint8Array(await crypto.subtle.decrypt(algorithm, await key(), sealed.slice(nonceBytes)));
      } catch {
        return undefined;
      }
    },
  };
}

async function makeKey(appKey: string, appSecret: string): Promise<CryptoKey> {
  const secret = await crypto.subtle.importKey('raw', utf8(appSecret), 'HKDF', false, ['deriveKey']);
  const derivation = {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: utf8(appKey),
    info: utf8('countersign: account data at rest'),
  };
  return crypto.subtle.deriveKey(derivation, secret, { name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ]);
}

/** A longer answer costs more to seal, in memory, than an instance has to spare, and no item of a table holds it. */
const maxStoredBytes = 393_216;

/** The store as before, but what it holds is sealed: answers, and refusals, which may name an account too. */
export function sealedResponses(store: ResponseStore, sealer: Sealer): ResponseStore {
  const aboutOf = (key: string, askedAt: number) => JSON.stringify([key, askedAt]);
  return {
    ...store,
    async read(key, consistency) {
      const stored = await store.read(key, consistency);
      if (stored?.kind !== 'answer') return undefined;
      const { askedAt } = stored;
      const opened = await sealer.open(stored.body, aboutOf(key, askedAt));
      return opened && unpack(opened, askedAt);
    },
    async write(key, answer, expiresAt) {
      const { askedAt } = answer;
      if (answer.kind === 'answer' && answer.body.byteLength > maxStoredBytes) return;
      const body = await sealer.seal(pack(answer), aboutOf(key, askedAt));
      await store.write(key, { kind: 'answer', body, askedAt }, expiresAt);
    },
  };
}

/** One byte for the kind, and the content. */
const kinds = { answer: 0, refused: 1 } as const;

function pack(answer: StoredResponse): Uint8Array {
  const content = answer.kind === 'answer' ? answer.body : utf8(JSON.stringify(answer.refusal ?? null));
  const packed = new Uint8Array(1 + content.byteLength);
  packed[0] = kinds[answer.kind];
  packed.set(content, 1);
  return packed;
}

function unpack(packed: Uint8Array, askedAt: number): StoredResponse {
  const content = packed.slice(1);
  if (packed[0] === kinds.answer) return { kind: 'answer', body: content, askedAt };
  return { kind: 'refused', refusal: JSON.parse(new TextDecoder().decode(content)), askedAt };
}
