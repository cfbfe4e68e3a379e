/** Functions that take batches from the queue, as the platform runs them. */

import type { BusDetail, Lookups } from '../../../lib/lookups/index.ts';
import { limitMs, type Queued, visibilityMs } from '../world.ts';
import { createPorts, type Scene } from './ports.ts';

/** What the fleet tells of itself. */
export interface Watcher {
  deleted(message: Queued): void;
  /** @param unheard ids of the requests whose replies the bus has not said it took */
  handedBack(message: Queued, unheard: ReadonlySet<string>): void;
  lateForItsEnd(): void;
}

/** After so many deliveries the queue moves a message to the dead letters by itself. */
const mostReceives = 6;
export const redriven = 'received too often';

/** One function after the other, until the queue is empty and nothing more can come. */
export async function keepWorking(scene: Scene, watcher: Watcher, quietFrom: number): Promise<void> {
  const { world, time, dice } = scene;
  while (world.queue.length > 0 || time.now() < quietFrom) {
    const batch = receive(scene, 1 + dice.below(10));
    if (batch.length > 0) await runFunction(scene, watcher, batch);
    else await time.sleep(200 + dice.below(500));
  }
}

function receive({ world, time, dice, trouble }: Scene, most: number): readonly Queued[] {
  const visible = world.queue.filter(({ visibleAt }) => visibleAt <= time.now()).slice(0, most);
  return visible.filter((message) => {
    message.receives++;
    if (message.receives > mostReceives) {
      remove(world.queue, message);
      world.dead.push({ body: message.body, reason: redriven });
      return false;
    }
    message.visibleAt = time.now() + (dice.chance(trouble().twice) ? dice.below(10_000) : visibilityMs);
    return true;
  });
}

async function runFunction(scene: Scene, watcher: Watcher, batch: readonly Queued[]): Promise<void> {
  const { world, time, dice } = scene;
  const life = createLife(scene);
  const { lookups, unheard } = createFunction(scene, life.isAlive);
  const returned = await Promise.race([
    lookups.batch(batch, time.now() + limitMs),
    life.death,
    time.sleep(limitMs).then(() => 'late' as const),
  ]);
  if (returned === 'late') watcher.lateForItsEnd();
  // What it left under way is frozen with it, or goes on beside the next batch.
  if (dice.chance(0.5)) life.end();
  if (returned === 'dead' || returned === 'late') return;
  for (const message of batch) {
    if (returned.includes(message.id)) {
      // At once, or when the time to work on it has run out.
      if (dice.chance(0.5)) message.visibleAt = time.now();
      watcher.handedBack(message, unheard);
    } else {
      remove(world.queue, message);
      watcher.deleted(message);
    }
  }
}

function createLife({ time, dice, trouble }: Scene) {
  let isAlive = true;
  const end = () => {
    isAlive = false;
  };
  const isToDie = dice.chance(trouble().dies);
  const death = new Promise<'dead'>((resolve) => {
    if (!isToDie) return;
    time.after(dice.below(limitMs), () => {
      end();
      resolve('dead');
    });
  });
  return { isAlive: () => isAlive, end, death };
}

function createFunction(
  scene: Scene,
  isAlive: () => boolean,
): { readonly lookups: Lookups; readonly unheard: ReadonlySet<string> } {
  const { world, time, dice, create } = scene;
  const ports = createPorts(scene, isAlive);
  const unheard = new Set<string>();
  const publish = async (entries: readonly BusDetail[]) => {
    for (const entry of entries) unheard.add(idOf(entry));
    const taken = await ports.bus.publish(entries);
    entries.forEach((entry, at) => {
      if (taken[at]) unheard.delete(idOf(entry));
    });
    return taken;
  };
  const lookups = create({
    ...world.options,
    ...ports,
    bus: { publish },
    clock: time.now,
    after: time.after,
    random: dice.random,
  });
  return { lookups, unheard };
}

const idOf = ({ detail }: BusDetail) => (JSON.parse(detail) as { readonly request_id: string }).request_id;

function remove(queue: Queued[], message: Queued): void {
  const at = queue.indexOf(message);
  if (at >= 0) queue.splice(at, 1);
}
