/** Steps of time for whole gateways: before and after each, everything goes on that waits for no timer. */

const immediate = globalThis.setImmediate;
type Work = (...given: unknown[]) => Promise<unknown>;

export interface FakeTime {
  /** @param each called at every step, with the time since the beginning */
  pass(ms: number, each?: (at: number) => void): Promise<void>;
}

/**
 * @param replace puts another function in the place of one of WebCrypto's, which works on other threads
 * @param advance lets so much time pass at once
 */
export function steppedTime(
  replace: (name: (typeof workOfOtherThreads)[number], work: Work) => void,
  advance: (ms: number) => void,
  stepMs: number,
): FakeTime & { begin(): void } {
  let working = 0;
  async function settle(): Promise<void> {
    let quiet = 0;
    while (quiet < 4) {
      await new Promise((resolve) => immediate(resolve));
      quiet = working === 0 ? quiet + 1 : 0;
    }
  }
  return {
    begin() {
      for (const name of workOfOtherThreads) {
        const original = crypto.subtle[name].bind(crypto.subtle) as Work;
        replace(name, (...given) => {
          working++;
          return original(...given).finally(() => working--);
        });
      }
    },
    async pass(ms, each = () => {}) {
      for (let at = 0; at < ms; at += stepMs) {
        each(at);
        await settle();
        advance(stepMs);
        await settle();
      }
    },
  };
}

const workOfOtherThreads = ['digest', 'sign', 'importKey', 'deriveKey', 'encrypt', 'decrypt'] as const;
