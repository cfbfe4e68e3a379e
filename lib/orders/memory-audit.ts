/** The audit in memory: for tests, and for one process. */

import type { OrderAuditStore } from './audit.ts';
import type { AuditLine } from './audit-line.ts';

/** @example const audit = createOrderAudit({ store: createMemoryOrderAudit(), bus, names }); */
export function createMemoryOrderAudit(): OrderAuditStore {
  const lines = new Map<string, AuditLine>();
  return {
    async append(line) {
      if (lines.has(line.id)) return false;
      lines.set(line.id, line);
      return true;
    },
    async *read(since, until) {
      yield* [...lines.values()].filter(({ at }) => at >= since && at < until).sort(byTime);
    },
  };
}

const byTime = (a: AuditLine, b: AuditLine): number =>
  a.at - b.at || a.sequence.length - b.sequence.length || (a.sequence < b.sequence ? -1 : 1);
