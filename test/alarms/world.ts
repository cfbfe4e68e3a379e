/**
 * A deployment whose alarms are judged: functions and workers on memory, the simulator, a clock that stands still until it
 * is moved, and what AWS counts of functions, queues and the API. Any store of it can be broken.
 */

import * as functions from '../../functions/compose/functions.ts';
import * as offers from '../../functions/compose/offers.ts';
import * as orderOffers from '../../functions/compose/order-offers.ts';
import type { Host, LookupPorts } from '../../functions/compose/ports.ts';
import { startWorker } from '../../functions/compositions.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import type { MemoryPorts } from '../../infra/local/memory-ports.ts';
import { type AlarmName, type AlarmSubject, alarmRows, formulaOf } from '../../infra/stack/alarm-table.ts';
import { memoryPlatform } from '../compositions/memory-platform.ts';
import {
  type Platform,
  platformNames,
  type Reply,
  type Scene,
  secretIds,
  startScene,
} from '../compositions/scene.ts';
import { snapshotTarget } from '../support/core.ts';
import { type Point, pointsIn, ringing } from '../support/evaluate-alarm.ts';
import { throughEach } from '../world/ports.ts';

export const minute = 60_000;

/** The value of each subject's dimension here. */
const dimensions: Partial<Record<AlarmSubject, string>> = {
  secret: secretIds.app,
  quotes: secretIds.app,
  'limiter-table': platformNames.limiter,
  'journal-table': platformNames.journal,
  'controls-table': platformNames.controls,
  // As the composition is called.
  'market-data': 'marketData',
};

type Broken = Set<keyof (MemoryPorts & LookupPorts)>;

/** Its stores reject while they are broken. */
function breakable(ports: MemoryPorts & LookupPorts, broken: Broken): MemoryPorts & LookupPorts {
  const wrap =
    (name: keyof typeof ports, create: (...args: readonly unknown[]) => object) =>
    (...args: readonly unknown[]) =>
      throughEach(create(...args), (_, call) =>
        broken.has(name) ? Promise.reject(new Error('the table cannot be used')) : call(),
      );
  const names = [
    'journal',
    'controls',
    'massCancelRequests',
    'massCancels',
    'controlAdmin',
    'auditStore',
  ] as const;
  return Object.assign(
    { ...ports },
    Object.fromEntries(names.map((name) => [name, wrap(name, ports[name] as never)])),
  );
}

export interface World {
  readonly scene: Scene;
  /** Where functions beside the scene log. */
  readonly lines: LogEntry[];
  /** Names of ports. */
  readonly broken: Broken;
  /** What AWS counts. */
  count(metric: string, of: AlarmSubject, value: number): void;
  ask(target: string, body?: object): Promise<Reply>;
  /** So many minutes of usual work, with what else happens in each of them. */
  minutes(count: number, during?: () => Promise<unknown>): Promise<void>;
  /** Which alarms rang since the world began, or since a moment. */
  rang(since?: number): readonly AlarmName[];
  now(): number;
}

export async function startWorld({
  share = 1,
  limits = {},
}: {
  readonly share?: number;
  readonly limits?: object;
} = {}): Promise<World & { close(): Promise<void> }> {
  const broken: Broken = new Set();
  let clock = Date.now;
  const platform = async (host: Host): Promise<Platform> => {
    clock = host.clock;
    const own = await memoryPlatform()(host);
    return { ...own, ports: breakable(own.ports, broken) };
  };
  const compositions = { ...functions, offers: { ...offers, ...orderOffers }, startWorker };
  const scene = await startScene({ platform, compositions, limits, share });
  // A whole hour, in which all periods begin.
  await scene.pass(60 * minute - (clock() % (60 * minute)));
  const from = clock() - (clock() % minute);
  const counted: Point[] = [];
  const lines: LogEntry[] = [];
  const count: World['count'] = (metric, of, value) => void counted.push({ at: clock(), metric, of, value });
  const run = async <T>(of: AlarmSubject, work: () => Promise<T>) => {
    const result = await work().catch(() => undefined);
    count('Errors', of, result === undefined ? 1 : 0);
    return result;
  };
  const ask: World['ask'] = async (target, body) => {
    const reply = await scene.ask(target, body);
    count('5XXError', 'api', reply.status >= 500 ? 1 : 0);
    count('Errors', 'api-functions', 0);
    return reply;
  };
  return {
    scene,
    lines,
    broken,
    count,
    ask,
    now: clock,
    async minutes(many, during = async () => {}) {
      for (let end = clock() + minute, left = many; left > 0; left--, end += minute) {
        await ask(snapshotTarget);
        await during();
        await run('order-settlement', scene.settle);
        await run('mass-cancels', scene.cancelOpen);
        await scene.pass(Math.max(0, end - 20_000 - clock()));
        await ask(snapshotTarget);
        await scene.pass(Math.max(0, end - clock()));
      }
    },
    rang(since = from) {
      const points = [...pointsIn([...scene.logged, ...lines]), ...counted];
      return alarmRows
        .filter(([, row]) => {
          const of = dimensions[row.of] ?? row.of;
          const threshold = typeof row.threshold === 'number' ? row.threshold : 3;
          // What has told nothing is not deployed here.
          const metrics: readonly string[] = Object.values(formulaOf(row.metric).metrics);
          if (row.missing && !points.some((one) => metrics.includes(one.metric) && one.of === of))
            return false;
          return ringing({ row, of, threshold }, points, { from, to: clock() }).some((at) => at > since);
        })
        .map(([name]) => name);
    },
    close: () => scene.close(),
  };
}
