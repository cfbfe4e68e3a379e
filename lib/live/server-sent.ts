/** Writes server-sent events (the HTML standard, chapter 9.2). */

/** Writes an event. The upstream's JSON may have line breaks between its members: each line needs its own `data:`. */
export const serverSent = (event: string, data: string): string => {
  const isOneLine = !data.includes('\n') && !data.includes('\r');
  const lines = isOneLine ? data : data.split(/\r\n|[\r\n]/).join('\ndata: ');
  return `event: ${event}\ndata: ${lines}\n\n`;
};
