/** A client of server-sent events for tests, as the format's standard describes one. */

import { until } from '../support/until.ts';

export interface Followed {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export interface Follower {
  readonly status: number;
  readonly headers: Headers;
  /** Oldest first. */
  readonly events: readonly Followed[];
  /** The response came to its end. */
  readonly hasEnded: boolean;
  /** Waits until so many events came, of one name or of any. @returns those of the name */
  came(count: number, name?: string): Promise<readonly Followed[]>;
  /** Leaves, and resolves when the connection is over. */
  leave(): Promise<void>;
}

export async function follow(url: string, headers: Readonly<Record<string, string>>): Promise<Follower> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers, signal: leaving.signal });
  const events: Followed[] = [];
  let hasEnded = false;
  const read = async () => {
    let text = '';
    for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) take(block);
    }
    hasEnded = true;
  };
  function take(block: string): void {
    const lines = block.split('\n').map((line) => /^([^:]*): ?(.*)$/.exec(line) ?? []);
    const of = (name: string) => lines.flatMap(([, field, value = '']) => (field === name ? [value] : []));
    const data = of('data');
    if (data.length > 0)
      events.push({
        id: of('id').at(-1) ?? '',
        event: of('event').at(-1) ?? 'message',
        data: data.join('\n'),
      });
  }
  const reading = read().catch(() => {});
  return {
    status: response.status,
    headers: response.headers,
    events,
    get hasEnded() {
      return hasEnded;
    },
    async came(count, name) {
      const named = () => events.filter(({ event }) => name === undefined || event === name);
      await until(() => named().length >= count || hasEnded);
      return named();
    },
    async leave() {
      leaving.abort();
      await reading;
    },
  };
}
