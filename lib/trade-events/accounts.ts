/**
 * The accounts to subscribe to. They are read while the lease is still another's, and those that are known already are
 * good enough for a stream: a hand-over must not wait for the limiter.
 */

import type { Parts } from './ports.ts';

/** Known ones are read again at the next stream: an operator may have opened another one. */
const freshMs = 600_000;

export class Accounts {
  readonly #parts: Parts;
  #list: readonly string[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<boolean> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get list(): readonly string[] {
    return this.#list;
  }

  /** Resolves when there are some: at once where they are known; false when they are not to be had. Never rejects. */
  async ready(): Promise<boolean> {
    if (this.#list.length === 0) return this.refresh();
    if (this.#parts.clock() - this.#readAt > freshMs) void this.refresh();
    return true;
  }

  /** Reads them again, for a stream that is opened later. Resolves at once where some are known. Never rejects. */
  async prepare(): Promise<void> {
    const reading = this.refresh();
    if (this.#list.length === 0) await reading;
  }

  /** One read at a time. What it finds is for the next stream. */
  refresh(): Promise<boolean> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<boolean> {
    const { accounts, orders, report, clock } = this.#parts;
    try {
      const found = accounts ?? (await orders.accounts());
      if (found.length === 0) throw new Error('the app key has no account');
      this.#list = found;
      this.#readAt = clock();
      return true;
    } catch (cause) {
      report({ kind: 'failed', step: 'accounts', cause });
      return false;
    }
  }
}
