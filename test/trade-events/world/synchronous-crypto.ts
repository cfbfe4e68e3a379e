/** WebCrypto works on other threads, for which a virtual clock does not wait: the same on this one. */

import { createHash, createHmac } from 'node:crypto';

const bytesOf = (data: unknown) => Buffer.from(data as Uint8Array);

const methods = {
  importKey: async (_: string, key: Uint8Array) => ({ key: bytesOf(key) }),
  digest: async (_: string, data: Uint8Array) =>
    new Uint8Array(createHash('sha256').update(bytesOf(data)).digest()).buffer,
  sign: async (_: string, { key }: { key: Buffer }, data: Uint8Array) =>
    new Uint8Array(createHmac('sha256', key).update(bytesOf(data)).digest()).buffer,
};

/** @returns takes it back */
export function useSynchronousCrypto(): () => void {
  for (const [name, value] of Object.entries(methods))
    Object.defineProperty(crypto.subtle, name, { value, configurable: true });
  return () => {
    for (const name of Object.keys(methods)) Reflect.deleteProperty(crypto.subtle, name);
  };
}
