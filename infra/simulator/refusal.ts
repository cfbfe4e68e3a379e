/** Refusals of the simulated upstream: their codes, and the four shapes that were seen live. */

import { STATUS_CODES } from 'node:http';
import type { Operation } from '../../lib/catalogue/index.ts';
import { observed } from './observed.ts';

export interface Rejection {
  readonly ok: false;
  /** HTTP status. */
  readonly status: number;
  /** Stable code; some are misspelt because the upstream's are. */
  readonly error_code: string;
  /** Words for people, which may change. */
  readonly message: string;
}

export function refuse(status: number, error_code: string, message: string): Rejection {
  return { ok: false, status, error_code, message };
}

/** Refuses as it was seen live. */
export const refuseAsSeen = (
  { status, code }: { readonly status: number; readonly code: string },
  message: string,
): Rejection => refuse(status, code, message);

/** Tells whether an operation has the codes and the shape of market data; all others, instruments too, are trading's. */
export const isMarketData = ({ group }: Pick<Operation, 'group'>): boolean =>
  ['market-data', 'market-stream', 'screeners', 'watchlists', 'fundamentals'].includes(group);

/** Tells whether refusals name the status: the stream's were seen with market data's codes and without a status. */
export const namesStatus = (operation: Pick<Operation, 'group'>): boolean =>
  isMarketData(operation) && operation.group !== 'market-stream';

/** Refuses a parameter of trading that is missing, unknown or not accepted; `name` says which. */
export function parameterError(name: string): Rejection {
  return refuseAsSeen(observed.wrongParameter, `Parameter error, ${name}`);
}

/** Refuses a parameter of market data likewise. */
export function illegalParameter(name: string): Rejection {
  return refuseAsSeen(observed.wrongValue, `Parameter error, ${name}`);
}

/** Refuses a parameter that is missing, or not allowed. */
export function wrongParameter(operation: Operation, name: string): Rejection {
  return isMarketData(operation) ? illegalParameter(name) : parameterError(name);
}

/** Refuses a parameter's value; market data has codes of its own for two parameters. */
export function wrongValue(operation: Operation, name: string): Rejection {
  const code = isMarketData(operation) && Object.hasOwn(valueCodes, name) ? valueCodes[name] : undefined;
  return code ? refuse(417, code, `Parameter error, ${name}`) : wrongParameter(operation, name);
}

const valueCodes: Readonly<Record<string, string>> = {
  category: observed.wrongValue.category,
  period: observed.wrongValue.period,
};

/** Body of a refusal with a code: the first shape, or market data's with the status. */
export const codedBody = ({ status, error_code, message }: Rejection, withStatus: boolean): object => ({
  error_code,
  message,
  ...(withStatus && { status }),
});

/**
 * Body of a refusal that concerns no operation: a method that the path does not have, too large a body, a failure. Which
 * refusals have this shape live was not seen. These come from the web server around the operations, which usually sends
 * it.
 */
export const serverBody = (status: number, message: string, path: string, now: number): object => ({
  timestamp: new Date(now).toISOString(),
  status,
  error: STATUS_CODES[status],
  message,
  path,
});
