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

/** Outcome of a command: lines for a person, and the same as data for `--json`. */
export interface Report {
  readonly lines: readonly string[];
  /** Text is JSON already, whose numbers keep their digits. */
  readonly data?: object | string;
  /** Whether what was looked at is well; null when that is not known. */
  readonly isWell?: boolean | null;
}

/** @returns lines, none without the condition */
export const linesIf = (condition: unknown, ...lines: readonly string[]): readonly string[] =>
  condition ? lines : [];

export function printedLines({ lines, data }: Report, json: boolean): readonly string[] {
  if (!json || data === undefined) return lines;
  return [typeof data === 'string' ? data : JSON.stringify(data)];
}

/** @returns the exit code */
export function printReport(report: Report, json: boolean): number {
  for (const line of printedLines(report, json)) print(line);
  return report.isWell === undefined || report.isWell ? 0 : 1;
}

export const printError = (text: string): void => console.error(inLines(text));
