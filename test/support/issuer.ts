/** Starts the issuer of `issuer-process.ts`, and asks it for tokens. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TokenRequest } from './issuer-process.ts';

export interface Issuer {
  /** Its URL, which is its name in tokens, too. */
  readonly url: string;
  /** In the order of the requests. */
  tokens(requests: readonly TokenRequest[]): Promise<readonly string[]>;
  stop(): Promise<void>;
}

export async function startIssuer(): Promise<Issuer> {
  const main = fileURLToPath(new URL('issuer-process.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', main], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    url,
    async tokens(requests) {
      const response = await fetch(`${url}/tokens`, { method: 'POST', body: JSON.stringify(requests) });
      return (await response.json()) as readonly string[];
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
