/**
 * The workers of a deployment in this process: what schedules, streams of tables and buses start on AWS. None of their
 * timers keeps the process alive.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { orderAudit, start } from '../../functions/compose/functions.ts';
import type { WorkerHandler } from '../../functions/compose/start.ts';
import { startWorker } from '../../functions/compositions.ts';
import { toProxyResult } from '../../functions/events/rest-proxy.ts';
import { type WorkerName, workerNames, workerRows } from '../../functions/rows.ts';
import { orderedLine, whoOrderedWhat } from '../../lib/orders/who-ordered-what.ts';
import type { RunReport } from '../../lib/trade-events/index.ts';
import type { LocalBus } from './bus.ts';
import { names } from './environment.ts';
import type { FunctionParts } from './functions.ts';
import type { LocalRoute } from './options.ts';

interface Worker {
  /** Resolves when its last run has ended, or was given up. */
  close(): Promise<void>;
}

/** What was thrown, and by what. */
type WorkerFailed = (error: unknown, worker: string) => void;

/** As the schedules of the stack. */
const everyMs = 60_000;
/** As the stack gives a scheduled worker. */
const timeLimitMs = 60_000;
/** Nothing succeeds the listener here, so that it has no hand-over to make. */
const listenMs = 24 * 3_600_000;
/** What is under way then is given up: the run's memory ends with it. */
const closeMs = 2_000;

const within = (ms: number) => {
  const endAt = Date.now() + ms;
  return { getRemainingTimeInMillis: () => endAt - Date.now() };
};

/** Runs each minute, and at once when it is woken; a run that is under way is not disturbed. */
function scheduled(
  run: () => Promise<unknown>,
  onFailure: (error: unknown) => void,
): Worker & { wake(): void } {
  let isClosed = false;
  let pause = new AbortController();
  void (async () => {
    while (!isClosed) {
      await unref(everyMs, pause.signal);
      pause = new AbortController();
      if (!isClosed) await run().catch(onFailure);
    }
  })();
  return {
    wake: () => pause.abort(),
    async close() {
      isClosed = true;
      pause.abort();
    },
  };
}

/**
 * Starts the workers that a schedule starts each minute, as their rows say: also by trade events, and by the stream of a
 * table.
 */
export const startWorkers = (
  parts: FunctionParts,
  events: LocalBus,
  failed: WorkerFailed,
): readonly Worker[] => workerNames.flatMap((name) => runWorker(name, parts, events, failed) ?? []);

/** @returns undefined for a worker that nothing starts here, or that lacks what it listens to */
function runWorker(
  name: WorkerName,
  { platform, env }: FunctionParts,
  bus: LocalBus,
  failed: WorkerFailed,
): Worker | undefined {
  const { asks, eachMinute, listens, needs, events = [], wokenBy } = workerRows[name];
  const variables = env(asks, true);
  if (eachMinute === undefined || (needs && !variables[needs])) return undefined;
  const handler = startWorker(name, variables, platform.ports);
  if (!handler) return undefined;
  const onFailure = (error: unknown) => failed(error, name);
  if (listens) return listener(handler, onFailure);
  const unsubscribe = bus.subscribe(({ detailType, detail }) => {
    if (events.some((one) => one === detailType))
      handler({ 'detail-type': detailType, detail: JSON.parse(detail) }, within(timeLimitMs)).catch(
        onFailure,
      );
  });
  const worker = scheduled(() => handler({}, within(timeLimitMs)), onFailure);
  if (wokenBy) platform.onMassCancel(names.controls, worker.wake);
  return {
    close() {
      unsubscribe();
      return worker.close();
    },
  };
}

/** With a leading underscore, as no operation has it. */
const orderAuditPath = '/_orders/audit';

/**
 * Audits each change of the journal.
 *
 * @returns a route that shows who ordered what, as JSON lines, as `countersign orders` shows a deployment's
 */
export function startOrderAudit({ platform, env }: FunctionParts): LocalRoute {
  const composed = start(orderAudit, env([], true), platform.ports);
  let audited: Promise<unknown> = Promise.resolve();
  platform.onOrder(names.journal, (change) => {
    audited = Promise.all([audited, composed?.audit.take([change])]);
  });
  const handler: LocalRoute['handler'] = async () => {
    await audited;
    const lines = platform.audit(names.audit).read(0, Number.POSITIVE_INFINITY);
    const { ordered } = await whoOrderedWhat(lines);
    return toProxyResult({
      status: 200,
      headers: { 'content-type': 'application/jsonl', 'cache-control': 'no-store' },
      body: Buffer.from(ordered.map((one) => `${orderedLine(one)}\n`).join('')),
    });
  };
  return { method: 'GET', path: orderAuditPath, handler, isOperators: true };
}

/** Starts a listener again whenever it ends, as a schedule does. */
function listener(handler: WorkerHandler, failed: (error: unknown) => void): Worker {
  const ending = new AbortController();
  const listening = (async () => {
    while (!ending.signal.aborted) {
      const report = await handler({}, { ...within(listenMs), ending: ending.signal }).catch(failed);
      if ((report as RunReport | undefined)?.result !== 'listened') await unref(everyMs, ending.signal);
    }
  })();
  return {
    async close() {
      ending.abort();
      await Promise.race([listening, unref(closeMs)]);
    },
  };
}

/** Keeps no process alive. Rejects when the signal aborts. */
export const sleepUnref = (ms: number, signal?: AbortSignal): Promise<void> =>
  delay(ms, undefined, { ref: false, ...(signal && { signal }) });

/** The same, ended by the signal without a word. */
const unref = (ms: number, signal?: AbortSignal): Promise<void> => sleepUnref(ms, signal).catch(() => {});
