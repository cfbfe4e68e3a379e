/**
 * Prints what commands say. Some of it is text of an upstream or of a server that may be any: in a terminal it must not
 * move the cursor, and in the log of a CI it must not be read as a command of that CI.
 */

/** Controls, what reverses the direction of text, and the beginnings of commands such as `::error::` and `##[error]`. */
const acting = /(?!\t)[\p{Cc}\p{Bidi_Control}\u2028\u2029]|(?<=^\s*):(?=:)|#(?=#(?:vso)?\[)/giu;

/** One line, in which such characters are shown as JSON escapes them: JSON stays the same JSON. */
export const inLine = (text: string): string =>
  text.replace(acting, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

const inLines = (text: string) =>
  text
    .split(/\r\n?|\n/)
    .map(inLine)
    .join('\n');

/** @param text lines of the command's own; what others wrote has passed `inLine`, or may have lines */
export const print = (text: string): void => console.log(inLines(text));

export const printError = (text: string): void => console.error(inLines(text));
