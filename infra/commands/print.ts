/**
 * Prints the commands' output. Parts of it are text of an upstream or of any server: that must not move a terminal's
 * cursor, nor pass for a command in the log of a CI.
 */

/** Control characters, those that reverse the direction of text, and beginnings of CI commands: `::error::`, `##[error]`. */
const actingCharacters = /(?!\t)[\p{Cc}\p{Bidi_Control}\u2028\u2029]|(?<=^\s*):(?=:)|#(?=#(?:vso)?\[)/giu;

/** Escapes such characters as JSON does, in one line; JSON stays the same JSON. */
export const inLine = (text: string): string =>
  text.replace(actingCharacters, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

const inLines = (text: string) =>
  text
    .split(/\r\n?|\n/)
    .map(inLine)
    .join('\n');

/** @param text the command's own lines; text of others has passed `inLine`, or may contain line breaks */
export const print = (text: string): void => console.log(inLines(text));

export const printError = (text: string): void => console.error(inLines(text));
