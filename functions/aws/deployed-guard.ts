/** Pre-trade checks and the kill switch of a deployed function: what operators have set, in DynamoDB. */

import type { GuardOptions, ScopeFailure } from '../../lib/guard-rails/guard.ts';
import { areLimits, readLimits, type TradingLimits } from '../../lib/guard-rails/limits.ts';
import type { DynamoSender } from './dynamo-client.ts';
import { createDynamoMassCancelRequests } from './dynamo-mass-cancel-requests.ts';
import { createDynamoControls } from './dynamo-trading-controls.ts';
import { embeddedMetrics } from './emf.ts';
import type { Environment } from './former-names.ts';
import { describe, type Log } from './log.ts';

export interface GuardSettings {
  readonly tableName: string;
  /** Of the whole gateway, until an operator sets others. */
  readonly limits: TradingLimits;
}

/** Of the table, because one alarm has to see all functions. */
export const controlsMetric = { name: 'TradingControlsNotRead', dimension: 'TradingControlsTable' } as const;
/** The same where what is open could not be asked to be cancelled. */
export const massCancelMetric = { ...controlsMetric, name: 'MassCancelNotRequested' } as const;

/** @returns undefined without a table; what is wrong is added to the faults */
export function readGuardSettings(env: Environment, faults: string[]): GuardSettings | undefined {
  const { TRADING_CONTROLS_TABLE: tableName, TRADING_LIMITS: text } = env;
  if (!tableName) {
    if (text) faults.push('TRADING_CONTROLS_TABLE: not set, but TRADING_LIMITS is');
    return undefined;
  }
  const limits = limitsIn(text || '{}');
  if (limits) return { tableName, limits };
  faults.push('TRADING_LIMITS: not limits of trading, as JSON');
  return undefined;
}

function limitsIn(text: string): TradingLimits | undefined {
  try {
    const read = readLimits(JSON.parse(text));
    return areLimits(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

/** @example const guard = { ...createDeployedGuard(settings, client), journal }; */
export const createDeployedGuard = (
  { tableName, limits }: GuardSettings,
  client: DynamoSender,
): Pick<GuardOptions, 'controls' | 'limits' | 'massCancels'> => ({
  controls: createDynamoControls({ client, tableName }),
  limits,
  massCancels: createDynamoMassCancelRequests({ client, tableName }),
});

/**
 * Log lines of the checks: `order_check_failed` for one that is set to notify; `trading_controls_not_read` and
 * `mass_cancel_not_requested`, each with a metric, when it is not known what operators have set, and when what is open is
 * not cancelled although a check asks for it. None has an order, an account or a user in it.
 */
export const guardReports = ({ tableName }: GuardSettings, log: Log) => ({
  noted(failures: readonly ScopeFailure[]) {
    for (const { check, scope } of failures)
      log({ level: 'warn', event: 'order_check_failed', check, scope });
  },
  notRead(cause: unknown) {
    const event = { level: 'error', event: 'trading_controls_not_read' } as const;
    log({ ...event, ...counted(controlsMetric, tableName), ...describe(cause) });
  },
  notRequested(cause: unknown) {
    const event = { level: 'error', event: 'mass_cancel_not_requested' } as const;
    log({ ...event, ...counted(massCancelMetric, tableName), ...describe(cause) });
  },
});

const counted = (
  { name, dimension }: { readonly name: string; readonly dimension: string },
  tableName: string,
) =>
  embeddedMetrics(
    { [name]: 'Count' as const },
    { dimensions: { [dimension]: tableName }, at: Date.now(), values: { [name]: 1 } },
  );
