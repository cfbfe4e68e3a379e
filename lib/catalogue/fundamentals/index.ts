/** Fundamentals of companies and funds. */

export * from './calendars.ts';
export * from './company.ts';
export * from './funds.ts';
export * from './statements.ts';
