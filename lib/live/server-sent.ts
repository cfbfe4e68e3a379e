/** Server-sent events as text (the HTML standard, chapter 9.2). */

/** The upstream's JSON may have line breaks between its members: each line of it is one of `data`. */
export const serverSent = (event: string, data: string): string =>
  `event: ${event}\n${data
    .split(/\r\n|[\r\n]/)
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;
