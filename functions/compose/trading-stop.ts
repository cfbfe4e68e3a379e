/**
 * The stop that an alarm sets: EventBridge brings the state of an alarm, or CloudWatch invokes the function as the alarm's
 * action, and the gateway's trading is stopped; where the stage says so, what is open is cancelled. It never resumes: that
 * takes an operator.
 */

import { createControlAdmin } from '../../lib/guard-rails/admin.ts';
import { toReason } from '../../lib/guard-rails/control-changes.ts';
import { describe } from '../log/log.ts';
import { type Parts, readParts } from '../settings/parts.ts';
import { composeIdentity } from './credential.ts';
import type { TradingStopPorts } from './ports.ts';
import { type Composition, fails } from './start.ts';

type TradingStopSettings = Parts['TRADING_STOP'] & Parts['IDENTITY'];

type TradingStopHandler = (event: unknown) => Promise<TradingStopReport>;

interface TradingStopReport {
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

const states = ['ALARM', 'OK', 'INSUFFICIENT_DATA'] as const;

/** An alarm of CloudWatch, out of the two events that tell a function of its state. */
interface AlarmEvent {
  /** The alarm's name, as CloudWatch has it. */
  readonly name: string;
  /** The state that it is in now. */
  readonly state: (typeof states)[number];
  /** Why, in CloudWatch's words; empty where the event has none. */
  readonly reason: string;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads an event of EventBridge (`CloudWatch Alarm State Change`), or what CloudWatch invokes a function with that is an
 * alarm's action.
 *
 * @returns undefined for anything else
 *
 * @example
 * alarmIn({ source: 'aws.cloudwatch', alarmData: { alarmName: 'refusals', state: { value: 'OK', reason: '…' } } });
 */
function alarmIn(event: unknown): AlarmEvent | undefined {
  const { source, 'detail-type': type, detail, alarmData } = membersOf(event);
  if (source !== 'aws.cloudwatch') return undefined;
  const { alarmName: name, state } = membersOf(type === 'CloudWatch Alarm State Change' ? detail : alarmData);
  const { value, reason } = membersOf(state);
  const known = states.find((one) => one === value);
  if (typeof name !== 'string' || name === '' || known === undefined) return undefined;
  return { name, state: known, reason: typeof reason === 'string' ? reason : '' };
}

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};

export const tradingStop: Composition<TradingStopSettings, TradingStopPorts, TradingStopHandler> = {
  read: (env) =>
    readParts(env, (parts) => ({ ...parts.required('TRADING_STOP'), ...parts.required('IDENTITY') })),
  compose: composeTradingStop,
  wrong: fails,
};
