/** Sources and decisions that several entries share. */

import type { Operation } from './operation.ts';

/** Sources of an operation whose path, parameters and answer the interface text does not show. */
export const fromVendor = {
  path: ['vendor-sdk', 'vendor-docs'],
  request: ['vendor-sdk', 'vendor-docs'],
  response: ['vendor-docs', 'vendor-sdk'],
} as const satisfies Operation['sources'];

/** Sources of such an operation whose answer was also seen live. */
export const answerSeen = {
  path: ['vendor-sdk', 'vendor-docs'],
  request: ['vendor-sdk', 'vendor-docs'],
  response: ['observed', 'vendor-docs', 'vendor-sdk'],
} as const satisfies Operation['sources'];

/** Sources of such an operation whose request values were also seen live. */
export const requestSeen = {
  path: ['vendor-sdk', 'vendor-docs'],
  request: ['observed', 'vendor-sdk', 'vendor-docs'],
  response: ['vendor-docs', 'vendor-sdk'],
} as const satisfies Operation['sources'];

/** Sources of a gateway's own operation. */
export const gatewaySources = {
  path: ['gateway'],
  request: ['gateway'],
  response: ['gateway'],
} as const satisfies Operation['sources'];

export const bothCategories =
  'Both categories of the interface text are accepted, also where the vendor’s documents name US_STOCK alone.';

export const momentsAreIntegers =
  'Times are integers of milliseconds by the interface’s rule. Seen live are integers (snapshots), milliseconds in a text (ticks) and ISO 8601 text with +0000 (bars): answers pass as they are, the type allows all.';

export const orderTimes =
  'Order times ending in _at are ISO 8601 text on the wire, their twins without it integers of milliseconds; the type allows both everywhere.';

export const ordinals =
  'Small whole numbers are integers in the vendor’s sources and text by the interface’s rule: the type allows both.';

export const oneLimit =
  'The interface text’s limit counts; the vendor’s documents name another one for this operation, which a deployer can add.';

export const olderPath =
  'An older path with other parameters or another answer is no alias, but an operation of its own, kept for old clients.';

export const noSourceInText =
  'The interface text names this operation without its path and fields: they are the vendor’s.';

export const notInText =
  'The interface text does not name this operation; it is here because its neighbours are of little use without it.';

export const laxRequired =
  'Parameters that the vendor’s documents call required and its SDK leaves out are optional.';

export const monthLetters =
  'Months are written MO1 and MO3, with the letter O, in the vendor’s documents and live. The SDK’s M01 and M03 are refused here: the upstream would refuse them too, without naming the right ones.';

export const orderStatuses = 'The values of status are the union of what SDK and docs name.';
