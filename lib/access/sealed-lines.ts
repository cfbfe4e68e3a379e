/** A history of changes, line by line: sealed, and in the order of its lines' ids, which begin with the time. */

import { base64url } from '../kernel/key-text.ts';
import type { Identity } from './identity.ts';

export interface SealedLine {
  readonly id: string;
  readonly sealed: Uint8Array;
}

/** @param about what a line's seal is bound to, before its id */
export const sealedLines = ({ sealer }: Identity, about: string) => ({
  async seal(at: number, line: object): Promise<SealedLine> {
    const id = `${new Date(at).toISOString()}#${nonce()}`;
    const sealed = await sealer.seal(new TextEncoder().encode(JSON.stringify(line)), `${about}${id}`);
    return { id, sealed };
  },
  /** Of a line that was sealed with another identity key the moment alone. */
  async open<T extends { readonly at: string }>({ id, sealed }: SealedLine): Promise<T | Pick<T, 'at'>> {
    const at = id.slice(0, id.indexOf('#'));
    const bytes = await sealer.open(sealed, `${about}${id}`);
    return bytes ? { at, ...JSON.parse(new TextDecoder().decode(bytes)) } : { at };
  },
});

/** Of a line's id, of a revision: two that are made in one moment differ. */
export const nonce = () => base64url(crypto.getRandomValues(new Uint8Array(12)));
