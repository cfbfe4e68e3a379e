/** Reads server-sent events (the HTML standard, chapter 9.2). */

export interface ServerSent {
  /** Last id of the stream, from this event or an earlier one; empty if none has come. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Limit of an event's bytes, far above any event of a gateway. */
const maxLength = 4 * 1024 * 1024;

/** Parses events from chunks; a chunk may hold a part of an event, or several events. */
export async function* serverSentEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSent, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  let id = '';
  let event = 'message';
  let data: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > maxLength) throw new Error('an event without an end');
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, name, value = ''] = /^([^:]*):? ?(.*?)\r?$/s.exec(line) ?? [];
      if (name === 'event') event = value;
      else if (name === 'data') data.push(value);
      else if (name === 'id') id = value;
      else if (line.length <= 1) {
        length = 0;
        if (data.length > 0) yield { id, event, data: data.join('\n') };
        event = 'message';
        data = [];
      }
    }
  }
}
