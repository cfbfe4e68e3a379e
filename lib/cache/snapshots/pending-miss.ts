/** What a request misses, as a key of the store that other instances read. */

/** A longer text is no symbol; it is answered as unknown without asking the upstream. */
export const maxSymbolLength = 32;

export interface PendingMiss {
  readonly caller: string;
  /** Tells the requests of one caller apart. */
  readonly request?: string;
  readonly view: string;
  readonly symbol: string;
  /** Events wait for it and no client: clients come first. */
  readonly isEventDriven?: true;
}

/** Neither occurs in the name of a caller. */
const eventsMark = '~';
const requestMark = '.';

export const missKey = ({ caller, request, view, symbol, isEventDriven }: PendingMiss): string =>
  `${isEventDriven ? eventsMark : ''}${caller}${request ? `${requestMark}${request}` : ''}/${view}/${symbol}`;

/** The symbol comes last, so that any character in it leaves the other parts intact. */
export function readMiss(key: string): PendingMiss {
  const [first = '', view = '', ...symbol] = key.split('/');
  const isEventDriven = first.startsWith(eventsMark);
  const [caller = '', request] = (isEventDriven ? first.slice(eventsMark.length) : first).split(requestMark);
  return {
    caller,
    ...(request && { request }),
    view,
    symbol: symbol.join('/'),
    ...(isEventDriven && { isEventDriven }),
  };
}
