/** Server-sent events as text (the HTML standard, chapter 9.2). */

/** The upstream's JSON may have line breaks between its members: each line of it is one of `data`. */
export const serverSent = (event: string, data: string): string => {
  const isOneLine = !data.includes('\n') && !data.includes('\r');
  const lines = isOneLine ? data : data.split(/\r\n|[\r\n]/).join('\ndata: ');
  return `event: ${event}\ndata: ${lines}\n\n`;
};
