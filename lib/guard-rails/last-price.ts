/** Port: what a symbol was last traded at. */
export interface LastPrices {
  /**
   * Undefined when none is known that is fresh enough, and none could be read by then; it never throws.
   *
   * @param symbol of a stock, in upper case
   * @param maxAgeMs how long ago its record may have been fetched, in milliseconds
   * @param endBy when the answer is needed, in milliseconds since the epoch
   */
  lastPrice(symbol: string, maxAgeMs: number, endBy: number): Promise<LastPrice | undefined>;
}

export interface LastPrice {
  /** A decimal, as the upstream wrote it. */
  readonly price: string;
  /** When it was fetched from the upstream, in milliseconds since the epoch. */
  readonly at: number;
}
