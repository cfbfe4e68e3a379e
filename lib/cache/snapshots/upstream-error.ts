/** The upstream's error as all instances share it, and what its message is worth. */

/** What the upstream answered when it refused. */
export interface UpstreamError {
  readonly status: number;
  readonly errorCode?: string;
  readonly message?: string;
  /** What the error means to the gateway that recorded it; opaque here. */
  readonly code?: string;
}

export const noMessage: UpstreamError = { status: 417, errorCode: 'INVALID_SYMBOL' };

/** The message was about a call of many symbols, and may name another of them. */
export const withoutMessage = ({ message: _, ...error }: UpstreamError): UpstreamError => error;

/** The one of the symbols that the message names; undefined when it names none, or several. */
export function namedBy(message: string | undefined, symbols: readonly string[]): string | undefined {
  const words = new Set((message ?? '').split(/[\s,;:'"()[\]]+/));
  const named = symbols.filter((symbol) => words.has(symbol));
  return named.length === 1 ? named[0] : undefined;
}
