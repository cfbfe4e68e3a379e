/** A history of changes, line by line: sealed, and in the order of its lines' ids, which begin with the time. */

import { base64url } from '../kernel/key-text.ts';
import { openJson, sealJson } from '../kernel/sealer.ts';
import type { Identity } from './identity.ts';

export interface SealedLine {
  /** Sorts by time: begins with the moment in ISO 8601. */
  readonly id: string;
  readonly sealed: Uint8Array;
}

/** @param about what a line's seal is bound to, before its id */
export const sealedLines = ({ sealer }: Identity, about: string) => ({
  async seal(at: number, line: object): Promise<SealedLine> {
    const id = `${new Date(at).toISOString()}#${nonce()}`;
    return { id, sealed: await sealJson(sealer, line, `${about}${id}`) };
  },
  /** Of a line that was sealed with another identity key the moment alone. */
  async open<T extends { readonly at: string }>({ id, sealed }: SealedLine): Promise<T | Pick<T, 'at'>> {
    const at = id.slice(0, id.indexOf('#'));
    return { at, ...(await openJson<object>(sealer, sealed, `${about}${id}`)) };
  },
});

/** The newest first. */
export const newest = (lines: readonly SealedLine[], limit: number): readonly SealedLine[] =>
  [...lines].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);

/** Of a line's id, of a revision: two that are made in one moment differ. */
export const nonce = () => base64url(crypto.getRandomValues(new Uint8Array(12)));
