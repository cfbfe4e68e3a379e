/** Writes trade events as lines on the console, without accounts. */

import type { BusEvent } from './bus.ts';

/** Lines within a second; further events are only counted. */
const maxLines = 10;

interface TradeEventLinesOptions {
  readonly print: (line: string) => void;
  /** Path of the stream that has all events. */
  readonly streamPath: string;
  /** Calls `run` after so many milliseconds. */
  readonly after?: (ms: number, run: () => void) => void;
}

/**
 * @example
 * const show = createTradeEventLines({ print: console.log, streamPath: '/trading/events/stream' });
 * bus.subscribe(show);
 */
export function createTradeEventLines({
  print,
  streamPath,
  after = (ms, run) => void setTimeout(run, ms).unref(),
}: TradeEventLinesOptions): (event: BusEvent) => void {
  let shownCount = 0;
  let hidden = 0;
  function begin(): void {
    if (hidden > 0) print(`  and ${hidden} more trade events within a second: GET ${streamPath} has all.`);
    shownCount = 0;
    hidden = 0;
  }
  return (event) => {
    if (shownCount === 0) after(1000, begin);
    if (shownCount === maxLines) {
      hidden++;
      return;
    }
    shownCount++;
    print(lineOf(event));
  };
}

const members = ['scene', 'event_type', 'symbol', 'client_order_id', 'status', 'filled_quantity'] as const;

function lineOf({ detailType, detail }: BusEvent): string {
  const facts = JSON.parse(detail) as Readonly<Record<string, unknown>>;
  const words = members.flatMap((name) =>
    facts[name] === undefined ? [] : [`${labels[name] ?? ''}${plainText(facts[name])}`],
  );
  return [detailType, ...words, ...(facts.reconciled === true ? ['(found by a read)'] : [])].join(' ');
}

const labels: Partial<Record<(typeof members)[number], string>> = {
  event_type: 'type ',
  filled_quantity: 'filled ',
};

/** Replaces characters of the upstream's text that could move a terminal's cursor. */
export const plainText = (value: unknown): string =>
  String(value)
    .replace(/[^ -~]/g, '?')
    .slice(0, 64);
