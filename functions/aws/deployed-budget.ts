/** The budget of a deployed function: what all functions on the same table send, counted in DynamoDB. */

import { type Budget, type BudgetReport, budgetLimits, createBudget } from '../../lib/gateway/index.ts';
import { type BudgetMetrics, createBudgetMetrics } from './budget-metrics.ts';
import { createDynamoBudgetStore } from './dynamo-budget-store.ts';
import type { DynamoSender } from './dynamo-client.ts';
import type { BudgetSettings } from './environment.ts';
import type { Log } from './log.ts';

export function createDeployedBudget(
  { tableName, bucket, share, ownShare, ownLimits }: BudgetSettings,
  client: DynamoSender,
  functionName: string,
  log: Log,
  hear: (report: BudgetReport) => void = () => {},
): { readonly budget: Budget; readonly metrics: BudgetMetrics } {
  const metrics = createBudgetMetrics(log, { functionName });
  const budget = createBudget({
    store: createDynamoBudgetStore({ client, tableName }),
    limits: budgetLimits(ownLimits, share),
    bucket,
    ownShare,
    report: (report) => {
      metrics.hear(report);
      hear(report);
    },
  });
  return { budget, metrics };
}
