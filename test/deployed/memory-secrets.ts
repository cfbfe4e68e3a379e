/** A secret source in memory, with versions as Secrets Manager keeps them. */

import type { SecretSource, SecretVersion } from '../../lib/gateway/index.ts';

export interface MemorySecrets extends SecretSource {
  /** Makes the text current, and what was current previous. */
  set(text: string): void;
  setDown(down: boolean): void;
  /** Every read, in order. */
  readonly reads: readonly SecretVersion[];
}

export function memorySecrets(...texts: readonly string[]): MemorySecrets {
  let versions: { readonly current?: string; readonly previous?: string } = {};
  let down = false;
  const reads: SecretVersion[] = [];
  const set = (current: string) => {
    versions = { current, ...(versions.current !== undefined && { previous: versions.current }) };
  };
  for (const text of texts) set(text);
  return {
    reads,
    set,
    setDown(value) {
      down = value;
    },
    async read(version = 'current') {
      reads.push(version);
      if (down) throw new Error('down');
      return versions[version];
    },
  };
}
