/** Runs a command in this process, and takes what it prints. */

import { vi } from 'vitest';
import { main } from '../../infra/commands/main.ts';

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function run(words: readonly string[]): Promise<Said> {
  const said = { out: '', err: '' };
  const take = (where: 'out' | 'err') => (text: unknown) => {
    said[where] += text;
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(take('out')),
    vi.spyOn(process.stderr, 'write').mockImplementation(take('err')),
    vi.spyOn(console, 'log').mockImplementation((text) => void take('out')(`${text}\n`)),
    vi.spyOn(console, 'error').mockImplementation((text) => void take('err')(`${text}\n`)),
  ];
  try {
    return { code: await main(words), ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
