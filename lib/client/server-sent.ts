/** Reads server-sent events (the HTML standard, chapter 9.2). */

export interface ServerSent {
  /** The last that came, of this event or an earlier one; empty before. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Far above any event of a gateway. */
const maxLength = 4 * 1024 * 1024;

/** What comes in one chunk may be a part of an event, or several. */
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
