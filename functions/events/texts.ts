/** Writes an answer piece by piece to a client that reads at its own pace. */

/** The part of Node's stream that is used; the stream of Lambda's runtime has no more. */
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

/** Time after which a client that reads nothing is cut off: it is gone, or will connect again. */
const maxBlockedMs = 30_000;

/**
 * Asks for the next text when the client has read the last one.
 *
 * @returns whether the client has read all of them
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
