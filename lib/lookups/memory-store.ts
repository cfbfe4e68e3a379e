/** Store of lookups in memory: for tests, and for one process. */

import type { LookupStore, StoredReply } from './ports.ts';

interface StoredLookup {
  readonly hash: string;
  owner: string;
  leaseUntil: number;
  readonly expiresAt: number;
  reply?: StoredReply;
  completedAt?: number;
}

/**
 * @param maxBytes size limit of a reply
 *
 * @example
 * const lookups = createLookups({ gateway, operations, store: createMemoryLookupStore(), queue, bus });
 */
export function createMemoryLookupStore(maxBytes = Number.POSITIVE_INFINITY): LookupStore {
  const items = new Map<string, StoredLookup>();
  return {
    async claim({ id, hash, owner, now, leaseUntil, expiresAt }) {
      const item = items.get(id);
      if (!item || item.expiresAt <= now) {
        items.set(id, { hash, owner, leaseUntil, expiresAt });
        return { kind: 'acquired' };
      }
      if (item.hash !== hash) return { kind: 'conflict' };
      if (item.reply && item.completedAt !== undefined) return { kind: 'completed', reply: item.reply };
      // The owner itself claims again if it lost the store's answer.
      if (item.owner !== owner) {
        if (item.leaseUntil > now) return { kind: 'in_progress', until: item.leaseUntil };
        Object.assign(item, { owner, leaseUntil });
      }
      return { kind: 'acquired', ...(item.reply && { reply: item.reply }) };
    },
    async saveReply(id, owner, reply) {
      const item = items.get(id);
      if (!item || item.owner !== owner || item.reply) return 'lost';
      if (JSON.stringify(reply).length > maxBytes) return 'too_large';
      item.reply = reply;
      return 'saved';
    },
    async complete(id, now) {
      const item = items.get(id);
      if (item) item.completedAt = now;
    },
    async release(id, owner) {
      const item = items.get(id);
      if (item?.owner === owner) item.leaseUntil = 0;
    },
  };
}
