/**
 * The stop that an alarm sets: EventBridge brings the state of an alarm, or CloudWatch invokes the function as the alarm's
 * action, and the gateway's trading is stopped; where the stage says so, what is open is cancelled. It never resumes: that
 * takes an operator.
 */

import { createControlAdmin } from '../../lib/guard-rails/admin.ts';
import { toReason } from '../../lib/guard-rails/control-changes.ts';
import { alarmIn } from '../events/alarm-event.ts';
import { describe } from '../log/log.ts';
import type { TradingStopSettings } from '../settings/settings.ts';
import { composeIdentity } from './credential.ts';
import type { TradingStopPorts } from './ports.ts';

export type TradingStopHandler = (event: unknown) => Promise<TradingStopReport>;

export interface TradingStopReport {
  /**
   * `stopped_already` where a stop was there, which stays as it is, and nothing is to be cancelled; `no_alarm` for a state
   * other than ALARM.
   */
  readonly result: 'stopped' | 'stopped_already' | 'no_alarm';
}

/**
 * @returns a handler that rejects when the stop is not set, and for an event that is no alarm's, so that Lambda tries
 * again and counts an error. Its errors repeat nothing of the event
 */
export function composeTradingStop(
  { tableName, identityKeySecretId, cancelOpen }: TradingStopSettings,
  ports: TradingStopPorts,
): TradingStopHandler {
  const { log, clock } = ports;
  const identity = composeIdentity(identityKeySecretId, ports);
  const store = ports.controlAdmin(tableName);
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
