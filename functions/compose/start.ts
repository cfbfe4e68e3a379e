/** How a function or worker starts: its settings are read from its environment, and it is composed of them and of ports. */

import type { Context } from 'aws-lambda';
import type { Log } from '../log/log.ts';
import type { Environment, Read } from '../settings/parts.ts';
import type { Host } from './ports.ts';

/** How one function comes about. */
export interface Composition<Settings, Ports extends Host, Handler> {
  readonly read: (env: Environment) => Read<Settings>;
  readonly compose: (settings: Settings, ports: Ports) => Handler;
  /** What the function does whose environment is wrong. */
  readonly wrong: (log: Log) => Handler;
}

/**
 * A wrong environment is one line in the log when the function starts. If it threw, Lambda would restart the function
 * again and again, and API Gateway would answer without a reason.
 *
 * @example
 * export const handler = start(settlement, process.env, journalPorts(lambdaHost()));
 */
export function start<Settings, Ports extends Host, Handler>(
  { read, compose, wrong }: Composition<Settings, Ports, Handler>,
  env: Environment,
  ports: Ports,
): Handler {
  const found = read(env);
  if (found.ok) return compose(found.settings, ports);
  ports.log({ level: 'error', event: 'wrong_configuration', faults: found.faults });
  return wrong(ports.log);
}

/** How a listener learns when its run ends. */
export type ListenerContext = Pick<Context, 'getRemainingTimeInMillis'> & {
  /** Ends the run at once; Lambda has none. Not a third argument: a runtime may pass a callback there. */
  readonly ending?: AbortSignal;
};

/** Handler of a function that a schedule, a stream or a bus starts. */
export type WorkerHandler<Report = unknown> = (event: unknown, context: ListenerContext) => Promise<Report>;

/** Every invocation fails, which alarms hear. */
export const fails = () => () => Promise.reject(new Error('wrong_configuration'));
