/** An answer that is written as it comes, to a client that takes it at its own pace. */

/** What a stream of Node has for it; that of Lambda's runtime has no more. */
export interface Sink {
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  readonly writableNeedDrain: boolean;
  write(text: string | Uint8Array): boolean;
  end(): unknown;
  destroy(): unknown;
  once(name: 'drain' | 'close', listener: () => void): unknown;
  off(name: 'drain' | 'close', listener: () => void): unknown;
}

/** A client that takes nothing for so long is cut off: it is gone, or comes back. */
const maxBlockedMs = 30_000;

/**
 * Asks for the next text when the client has taken the last one.
 *
 * @returns whether the client has taken all of them
 */
export async function passOn(
  texts: AsyncIterable<string> | Iterable<Uint8Array>,
  sink: Sink,
  blockedMs = maxBlockedMs,
): Promise<boolean> {
  for await (const text of texts) {
    if (sink.destroyed || sink.writableEnded) return false;
    if (sink.write(text) || (await hasDrained(sink, blockedMs))) continue;
    sink.destroy();
    return false;
  }
  sink.end();
  return true;
}

const hasDrained = (sink: Sink, blockedMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(impatience);
      sink.off('drain', done);
      sink.off('close', done);
      resolve(!sink.destroyed && !sink.writableNeedDrain);
    };
    const impatience = setTimeout(done, blockedMs);
    sink.once('drain', done);
    sink.once('close', done);
  });
