/**
 * Account data in a store of all instances: sealed with a key that is made of the app secret. So a copy of the table
 * shows no account's data, and no other app key reads it.
 */

import type { ResponseStore, StoredResponse } from '../cache/responses/index.ts';
import type { Sealer } from '../sealer.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

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
