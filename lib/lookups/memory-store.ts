/** The store of lookups in memory: for tests, and for one process. */

import type { LookupStore, StoredReply } from './ports.ts';

interface Item {
  readonly hash: string;
  owner: string;
  leaseUntil: number;
  readonly expiresAt: number;
  reply?: StoredReply;
  publishedAt?: number;
}

/** @param mostBytes of a reply */
export function createMemoryLookupStore(mostBytes = Number.POSITIVE_INFINITY): LookupStore {
  const items = new Map<string, Item>();
  return {
    async claim({ id, hash, owner, now, leaseUntil, expiresAt }) {
      const there = items.get(id);
      if (!there || there.expiresAt <= now) {
        items.set(id, { hash, owner, leaseUntil, expiresAt });
        return { kind: 'ours' };
      }
      if (there.hash !== hash) return { kind: 'other' };
      if (there.reply && there.publishedAt !== undefined) return { kind: 'published', reply: there.reply };
      // Whoever has it already asks again because he lost the answer.
      if (there.owner !== owner) {
        if (there.leaseUntil > now) return { kind: 'busy', until: there.leaseUntil };
        Object.assign(there, { owner, leaseUntil });
      }
      return { kind: 'ours', ...(there.reply && { reply: there.reply }) };
    },
    async answer(id, owner, reply) {
      const item = items.get(id);
      if (!item || item.owner !== owner || item.reply) return 'lost';
      if (JSON.stringify(reply).length > mostBytes) return 'too_large';
      item.reply = reply;
      return 'kept';
    },
    async published(id, now) {
      const item = items.get(id);
      if (item) item.publishedAt = now;
    },
    async release(id, owner) {
      const item = items.get(id);
      if (item?.owner === owner) item.leaseUntil = 0;
    },
  };
}
