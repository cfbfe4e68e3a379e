/** The upstream's error as all instances share it, and what its message is worth. */

/** What the upstream answered when it refused. */
export interface UpstreamError {
  readonly status: number;
  readonly errorCode?: string;
  readonly message?: string;
  /** What the error means to the gateway that recorded it, and why it came; opaque here. */
  readonly code?: string;
  readonly cause?: string | undefined;
  readonly clockOffsetSeconds?: number | undefined;
  /** Of a refusal that says nothing of whether a symbol exists: how long it stands. */
  readonly forMs?: number;
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

/** Named symbols that proved unknown before messages are trusted. */
const rightToTrust = 3;

/** Whether the messages can be trusted to name the symbol that is unknown. */
export class MessageHints {
  /** Symbols that a message named, and of which nothing else is known yet. */
  readonly named = new Set<string>();
  #right = 0;
  #wrong = 0;

  get areTrusted(): boolean {
    return this.#right >= rightToTrust && this.#wrong === 0;
  }

  /** Another instance, which has seen more messages, trusts them. */
  trust(): void {
    this.#right = Math.max(this.#right, rightToTrust);
  }

  /** Compares what was learnt about a symbol with the message that named it, if one did. */
  check(symbol: string, isUnknown: boolean): void {
    if (!this.named.delete(symbol)) return;
    if (isUnknown) this.#right++;
    else this.#wrong++;
  }
}
