/**
 * The function's log: one line of JSON for each entry. It contains events and never content: no value of a query or body,
 * and no part of the secret. It is own code, because the logger of powertools takes longer to load than the rest of the
 * function.
 */

import type { RequestReport } from '../../lib/gateway/index.ts';

export type Level = 'info' | 'warn' | 'error';
export type LogEntry = { readonly level: Level; readonly event: string } & Readonly<Record<string, unknown>>;
export type Log = (entry: LogEntry) => void;

/** Writes an entry directly to stdout: `console` in the Lambda runtime would put its own text before it. */
export function writeLog(entry: LogEntry): void {
  process.stdout.write(`${JSON.stringify(entry)}\n`);
}

/** One line for each request. */
export type RequestEntry = LogEntry & Omit<RequestReport, 'defect'>;

export function requestEntry({ defect, ...report }: RequestReport): RequestEntry {
  const level = report.status >= 500 ? 'error' : report.status >= 400 ? 'warn' : 'info';
  return { level, event: 'request', ...report, ...(defect !== undefined && { defect: describe(defect) }) };
}

/** @example if (isRequest(entry)) console.log(entry.operation, entry.status); */
export const isRequest = (entry: LogEntry): entry is RequestEntry => entry.event === 'request';

/** Name, code and place of an error. Not its message, which may quote the content that it failed on. */
export function describe(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { name: typeof error };
  const { code } = error as { readonly code?: unknown };
  return {
    name: error.name,
    ...(typeof code === 'string' && { code }),
    at: (error.stack ?? '').split('\n').flatMap((line) => /^\s+at (.+)$/.exec(line)?.[1] ?? []),
  };
}
