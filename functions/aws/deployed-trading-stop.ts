/**
 * The stop that an alarm sets, as it is deployed: EventBridge brings the state of an alarm, or CloudWatch invokes the
 * function as the alarm's action, and the gateway's trading is stopped; where the stage says so, what is open is cancelled.
 * It never resumes: that takes an operator.
 */

import { createIdentity, type Identity } from '../../lib/access/identity.ts';
import { createControlAdmin } from '../../lib/guard-rails/admin.ts';
import type { ControlAdminStore } from '../../lib/guard-rails/control-admin-store.ts';
import { toReason } from '../../lib/guard-rails/reason.ts';
import { alarmIn } from './alarm-event.ts';
import { createDynamoClient } from './dynamo-client.ts';
import { createDynamoControlAdmin } from './dynamo-control-admin.ts';
import { type Environment, requiredOf } from './environment.ts';
import { createIdentityKeyReader } from './identity-key.ts';
import { describe, type Log, writeLog } from './log.ts';
import { wrongConfiguration } from './wrong-configuration.ts';

export type TradingStopHandler = (event: unknown) => Promise<TradingStopReport>;

export interface TradingStopReport {
  /**
   * `stopped_already` where a stop was there, which stays as it is, and nothing is to be cancelled; `no_alarm` for a state
   * other than ALARM.
   */
  readonly result: 'stopped' | 'stopped_already' | 'no_alarm';
}

export interface TradingStopSettings {
  readonly tableName: string;
  /** The ARN or name of the secret that holds the identity key. */
  readonly identityKeySecretId: string;
  /** Whether what is open is cancelled, too. */
  readonly cancelOpen: boolean;
}

/** @param faults takes a sentence for each variable that is wrong */
export function readTradingStopSettings(env: Environment, faults: string[]): TradingStopSettings {
  const required = requiredOf(env, faults);
  const { TRADING_STOP_CANCELS_OPEN: cancels = '' } = env;
  if (!['', 'true'].includes(cancels)) faults.push('TRADING_STOP_CANCELS_OPEN: neither empty nor true');
  return {
    tableName: required('TRADING_CONTROLS_TABLE'),
    identityKeySecretId: required('IDENTITY_KEY_SECRET_ID'),
    cancelOpen: cancels === 'true',
  };
}

/** A wrong environment fails each event, so that Lambda counts an error, which an alarm looks at. */
export function deployedTradingStop(
  env: Environment = process.env,
  log: Log = writeLog,
  clock: () => number = Date.now,
): TradingStopHandler {
  const faults: string[] = [];
  const { tableName, identityKeySecretId, cancelOpen } = readTradingStopSettings(env, faults);
  if (faults.length > 0) return wrongConfiguration(log, faults);
  return createTradingStopHandler({
    store: createDynamoControlAdmin({ client: createDynamoClient(), tableName }),
    identity: createIdentity(createIdentityKeyReader(identityKeySecretId, log)),
    cancelOpen,
    log,
    clock,
  });
}

export interface TradingStopParts {
  readonly store: ControlAdminStore;
  readonly identity: Identity;
  /** Default false. */
  readonly cancelOpen?: boolean;
  readonly log: Log;
  readonly clock: () => number;
}

/**
 * @returns a handler that rejects when the stop is not set, and for an event that is no alarm's, so that Lambda tries
 * again and counts an error. Its errors repeat nothing of the event
 *
 * @example
 * const handler = createTradingStopHandler({ store, identity, log: writeLog, clock: Date.now });
 */
export function createTradingStopHandler({
  store,
  identity,
  cancelOpen = false,
  log,
  clock,
}: TradingStopParts): TradingStopHandler {
  return async (event) => {
    const found = alarmIn(event);
    if (!found) {
      log({ level: 'error', event: 'trading_alarm_not_read' });
      throw new Error('not an event of an alarm');
    }
    const alarm = toReason(found.name, 'without a visible name');
    const said = (report: TradingStopReport): TradingStopReport => {
      log({
        level: report.result === 'stopped' ? 'warn' : 'info',
        event: 'trading_alarm',
        alarm,
        state: found.state,
        ...report,
      });
      return report;
    };
    if (found.state !== 'ALARM') return said({ result: 'no_alarm' });
    const admin = createControlAdmin({ store, identity, by: `alarm ${alarm}`, clock });
    const reason = toReason(found.reason, 'the alarm says no reason');
    try {
      const { isChanged } = await admin.apply({
        action: 'stop',
        subject: { kind: 'gateway' },
        reason,
        ...(cancelOpen && { cancelOpen }),
      });
      return said({ result: isChanged ? 'stopped' : 'stopped_already' });
    } catch (cause) {
      log({ level: 'error', event: 'trading_not_stopped', alarm, ...describe(cause) });
      throw new Error('trading is not stopped; the log says why, as trading_not_stopped');
    }
  };
}
