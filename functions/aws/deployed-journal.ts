/**
 * The journal of orders of a deployed function, and the guard rails that count in it: entries in DynamoDB, and each failure
 * a line in the log and a metric.
 */

import type { LastPrices } from '../../lib/guard-rails/last-price.ts';
import type { OrdersOptions } from '../../lib/orders/hand-over.ts';
import { JournalUnavailable } from '../../lib/orders/journal.ts';
import type { DeployedAccess } from './deployed-access.ts';
import { createDeployedGuard, type GuardSettings, guardReports } from './deployed-guard.ts';
import type { DynamoSender } from './dynamo-client.ts';
import { createDynamoOrderJournal } from './dynamo-order-journal.ts';
import { embeddedMetrics } from './emf.ts';
import { describe, type Log } from './log.ts';

/** Of the table, because one alarm has to see all functions. */
export const journalMetric = { name: 'OrderJournalFailed', dimension: 'OrderJournalTable' } as const;

export interface DeployedJournalParts extends Pick<DeployedAccess, 'names' | 'sealer'> {
  readonly client: DynamoSender;
  readonly log: Log;
  /** For a function that places or replaces orders. */
  readonly guard?: (GuardSettings & { readonly lastPrices?: LastPrices | undefined }) | undefined;
}

/** @example const orders = createDeployedJournal('orders', { client, log, ...createDeployedAccess(settings, client, log) }); */
export function createDeployedJournal(
  tableName: string,
  { client, log, names, sealer, guard }: DeployedJournalParts,
): OrdersOptions {
  const journal = createDynamoOrderJournal({ client, tableName, sealer });
  const reports = guard && guardReports(guard, log);
  return {
    journal,
    names,
    ...(guard && {
      guard: {
        ...createDeployedGuard(guard, client),
        ...(guard.lastPrices && { lastPrices: guard.lastPrices }),
        journal,
      },
    }),
    ...(reports && { reportNoted: reports.noted }),
    reportFailure: (step, cause) => {
      if (step === 'check' && reports) reports.notRead(cause);
      else if (step === 'mass_cancel' && reports) reports.notRequested(cause);
      else reportJournal(tableName, log, step, cause);
    },
  };
}

const reportJournal = (tableName: string, log: Log, step: string, cause: unknown) =>
  log({
    level: 'error',
    event: 'journal_failed',
    step,
    ...embeddedMetrics(
      { [journalMetric.name]: 'Count' },
      {
        dimensions: { [journalMetric.dimension]: tableName },
        at: Date.now(),
        values: { [journalMetric.name]: 1 },
      },
    ),
    ...describe(cause instanceof JournalUnavailable ? cause.cause : cause),
  });
