/** How the simulated upstream says no: in which of the four shapes seen live, and with which code. */

import { STATUS_CODES } from 'node:http';
import type { Operation } from '../../lib/catalogue/index.ts';

export interface Rejection {
  readonly ok: false;
  /** HTTP status. */
  readonly status: number;
  /** The stable key; some are misspelt because the upstream's are. */
  readonly error_code: string;
  /** For people; not a stable key. */
  readonly message: string;
}

export function refuse(status: number, error_code: string, message: string): Rejection {
  return { ok: false, status, error_code, message };
}

/** Market data has codes and a shape of its own; everything else, instruments among it, is trading. */
export const isMarketData = ({ group }: Pick<Operation, 'group'>): boolean =>
  ['market-data', 'market-stream', 'screeners', 'watchlists', 'fundamentals'].includes(group);

/** Whether the operation's own refusals name the status: those of the stream were seen with market data's codes and without it. */
export const namesStatus = (operation: Pick<Operation, 'group'>): boolean =>
  isMarketData(operation) && operation.group !== 'market-stream';

/** Of trading: a parameter that is missing, unknown or not accepted; `name` says which. */
export function parameterError(name: string): Rejection {
  return refuse(417, 'OPENAPI_PARAM_ERR', `Parameter error, ${name}`);
}

/** The same of market data. */
export function illegalParameter(name: string): Rejection {
  return refuse(417, 'ILLEGAL_PARAMETER', `Parameter error, ${name}`);
}

/** A parameter that is missing, or must not be there. */
export function wrongParameter(operation: Operation, name: string): Rejection {
  return isMarketData(operation) ? illegalParameter(name) : parameterError(name);
}

/** A parameter whose value is not accepted: of two of them market data has codes of their own. */
export function wrongValue(operation: Operation, name: string): Rejection {
  const code = isMarketData(operation) && Object.hasOwn(valueCodes, name) ? valueCodes[name] : undefined;
  return code ? refuse(417, code, `Parameter error, ${name}`) : wrongParameter(operation, name);
}

const valueCodes: Readonly<Record<string, string>> = {
  category: 'UNSUPPORTED_CATEGORY',
  period: 'UNSUPPORTED_PERIOD',
};

/** The body of a refusal that has a code: the first shape, or market data's with the status. */
export const codedBody = ({ status, error_code, message }: Rejection, withStatus: boolean): object => ({
  error_code,
  message,
  ...(withStatus && { status }),
});

/**
 * The body of what no operation was asked for: a method that the path does not have, a body that is too large,
 * a failure. Which refusals have this shape live was not seen; these come from the web server around the
 * operations, whose habit it is.
 */
export const serverBody = (status: number, message: string, path: string, now: number): object => ({
  timestamp: new Date(now).toISOString(),
  status,
  error: STATUS_CODES[status],
  message,
  path,
});
