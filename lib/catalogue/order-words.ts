/** Words of orders that the guard rails read, too: without the schemas, which a function without orders need not load. */

export const instrumentTypes = ['EQUITY', 'OPTION', 'FUTURES', 'CRYPTO', 'EVENT'] as const;

/** Sessions that an order may be executed in, by each word that clients send for them. */
export const sessionsOf = {
  ALL: ['ALL'],
  CORE: ['CORE'],
  NIGHT: ['NIGHT'],
  ALL_DAY: ['ALL', 'NIGHT'],
  Y: ['ALL'],
  N: ['CORE'],
} as const;
