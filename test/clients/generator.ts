/** What the harness knows of a generator: how its user calls it, and which example shows its client. */

import type { DocumentName } from './documents.ts';

export interface Generator {
  /** As its row in the table has it. */
  readonly name: string;
  /** What is installed here; with the library that its client needs, where its user chooses one. */
  readonly version: string;
  readonly language: string;
  /** A folder of docs/examples, or a path from the root. It is copied, and everything below happens in the copy. */
  readonly example: string;
  /** The documents that it is given: `npm run test:clients` takes the first, and of one generator each; `CLIENTS=all` each of all. */
  readonly documents: readonly DocumentName[];
  /** What is missing on this machine, and how to get it, in one line. */
  readonly missing: () => string | undefined;
  /** Puts into the folder what a package manager would bring, where it is this project's own. */
  readonly prepare?: (folder: string) => Promise<void>;
  /** The document lies in the folder as `openapi.json`. */
  readonly generate: readonly Command[];
  /** Fetches what the client needs, and compiles client and program. */
  readonly compile: readonly Command[];
  /** Starts the program. */
  readonly run: Command;
  /** In place of the two, where no registry has the compiler: what can be checked without it. */
  readonly check?: Command;
}

/**
 * A line as the reader of docs/examples/README.md types it in the example's folder; a test looks it up there. `sh`
 * runs it with the tools of test/clients in front of PATH, in place of those of `npx`; `bash` would read the user's own
 * settings where its input is a socket, and find other tools.
 */
export type Command = string;

/**
 * The lines that each program prints, in this order: one for each step that went well, with what it found behind the
 * words. It prints nothing of the kind for a step that failed, says why on standard error, and exits with another
 * status than 0.
 */
export const steps = [
  /** Signed in at ISSUER_URL, by `POST /token` as a form: `grant_type=password&username=ada`. */
  'sign-in ok',
  /** AAPL and MSFT, with price, ETag and `x-poll-after`. */
  'snapshots ok',
  /** The same again with `If-None-Match`: 304. */
  'not-modified ok',
  /** Those of the user: its own ids. */
  'accounts ok',
  'balance ok',
  /**
   * A decimal quantity, as text: 1.50 of AAPL, LIMIT, GTC. The harness also lets the answer be lost: 502 `outcome_unknown`.
   * Then the program does not send the order again, but reads it by its `client_order_id`; it was placed, so the line is the same.
   */
  'order ok',
  /** The order by its `client_order_id`, with the quantity that was sent, and its time in either form. */
  'get-order ok',
  /** Daily bars of AAPL by `listStockBars`, with their times in either form. */
  'bars ok',
  /** A request that is refused, such as for the balance of another account: the refusal's `code` and sentence follow. */
  'refusal ok',
] as const;

export type Step = (typeof steps)[number];
