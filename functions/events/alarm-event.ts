/** An alarm of CloudWatch, out of the two events that tell a function of its state. */

const states = ['ALARM', 'OK', 'INSUFFICIENT_DATA'] as const;

export interface AlarmEvent {
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
export function alarmIn(event: unknown): AlarmEvent | undefined {
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
