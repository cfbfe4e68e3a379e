/** A history of changes as sealed lines. Its lines are ordered by their ids, which begin with the time. */

import { base64url } from '../kernel/key-text.ts';
import { openJson, sealJson } from '../kernel/sealer.ts';
import type { Identity } from './identity.ts';

export interface SealedLine {
  /** Sorts by time: begins with the moment in ISO 8601. */
  readonly id: string;
  readonly sealed: Uint8Array;
}

/** @param about text to which a line's seal is bound, together with the line's id */
export const sealedLines = ({ sealer }: Identity, about: string) => ({
  async seal(at: number, line: object): Promise<SealedLine> {
    const id = `${new Date(at).toISOString()}#${nonce()}`;
    return { id, sealed: await sealJson(sealer, line, `${about}${id}`) };
  },
  /** Opens a line; for one that was sealed with another identity key the result has the time alone. */
  async open<T extends { readonly at: string }>({ id, sealed }: SealedLine): Promise<T | Pick<T, 'at'>> {
    const at = id.slice(0, id.indexOf('#'));
    return { at, ...(await openJson<object>(sealer, sealed, `${about}${id}`)) };
  },
});

/** Returns the newest lines, the latest first. */
export const newest = (lines: readonly SealedLine[], limit: number): readonly SealedLine[] =>
  [...lines].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);

/** Random text for line ids and revisions: two that are made at the same moment differ. */
export const nonce = () => base64url(crypto.getRandomValues(new Uint8Array(12)));
