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
  let endsWithCr = false;
  let id = '';
  let event = '';
  let data: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > maxLength) throw new Error('an event without an end');
    const text = decoder.decode(chunk, { stream: true });
    // A line feed after a carriage return is the rest of one line end.
    const lines = (rest + (endsWithCr ? text.replace(/^\n/, '') : text)).split(/\r\n|\r|\n/);
    if (text !== '') endsWithCr = text.endsWith('\r');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (name === 'event') event = value;
      else if (name === 'data') data.push(value);
      else if (name === 'id' && !value.includes('\0')) id = value;
      else if (line === '') {
        length = 0;
        if (data.length > 0) yield { id, event: event || 'message', data: data.join('\n') };
        event = '';
        data = [];
      }
    }
  }
}
