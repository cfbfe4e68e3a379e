/** Values of orders that the guard rails read, too: without schemas, which a function without orders need not load. */

export const instrumentTypes = ['EQUITY', 'OPTION', 'FUTURES', 'CRYPTO', 'EVENT'] as const;

/** Sessions in which an order may be executed, by each word that clients send for them. */
export const sessionsOf = {
  ALL: ['ALL'],
  CORE: ['CORE'],
  NIGHT: ['NIGHT'],
  ALL_DAY: ['ALL', 'NIGHT'],
  Y: ['ALL'],
  N: ['CORE'],
} as const;
