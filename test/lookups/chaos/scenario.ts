/** A few minutes of a queue and its functions, and what was wrong in them. */

import { createLookups } from '../../../lib/lookups/index.ts';
import { createDice } from '../../world/random.ts';
import { VirtualTime } from '../../world/virtual-time.ts';
import { createWorld, limitMs, type Queued, type World } from '../world.ts';
import { keepWorking, redriven, type Watcher } from './fleet.ts';
import { drawLetters, type Letter, lastLetterMs } from './letters.ts';
import { moodyMarket, type Scene } from './ports.ts';
import { noTrouble, type Trouble } from './trouble.ts';

const hourMs = 3_600_000;

/**
 * @param create the lookups that are judged
 * @returns what was wrong, in words; nothing when all was well
 */
export async function runScenario(seed: number, kind: Trouble, create = createLookups): Promise<string[]> {
  const dice = createDice(seed);
  const world = createWorld();
  const time = new VirtualTime(world.now);
  const troubleUntil = world.now + 20_000 + dice.below(400_000);
  const trouble = () => (time.now() < troubleUntil ? kind : noTrouble);
  const scene: Scene = { world, time, dice, trouble, create };
  world.upstream = moodyMarket(scene);

  const letters = drawLetters(dice, world.now);
  for (const { afterMs, body } of letters)
    time.after(afterMs, () => {
      world.now = time.now();
      world.send(body);
    });

  const wrong: string[] = [];
  const watcher = createWatcher(world, letters, kind, (what) => wrong.push(what));
  // What was under way when the trouble ended has had its effect by then.
  const quietFrom = Math.max(troubleUntil, world.now + lastLetterMs) + limitMs;
  const functions = 2 + dice.below(2);
  for (let index = 0; index < functions; index++) void keepWorking(scene, watcher, quietFrom);
  await time.runUntil(quietFrom + 3 * hourMs);
  return [...wrong, ...wrongAtTheEnd(world, letters)];
}

function createWatcher(
  world: World,
  letters: readonly Letter[],
  kind: Trouble,
  wrong: (what: string) => void,
): Watcher {
  // Then nothing comes again but what the bus did not take.
  const isOnlyOfBus = Object.entries(kind).every(
    ([name, much]) => much === 0 || name === 'busHangs' || name === 'gatewayRefuses',
  );
  const letterOf = ({ body }: Queued) => letters.find((letter) => letter.body === body)!;
  return {
    deleted(message) {
      const letter = letterOf(message);
      if (isLost(world, letter)) wrong(`lost when ${message.id} was deleted: ${letter.body}`);
    },
    handedBack(message, unheard) {
      const { id = '', body } = letterOf(message);
      // A delivery for nothing: the queue gives only a few.
      if (isOnlyOfBus && !unheard.has(id)) wrong(`handed back though nothing had failed for it: ${body}`);
    },
    lateForItsEnd: () => wrong('a function did not return before its end'),
  };
}

/** Neither queued nor a dead letter nor answered: its sender never receives a reply. */
function isLost(world: World, letter: Letter): boolean {
  const same = ({ body }: { readonly body: string }) =>
    letter.id === undefined ? body === letter.body : body.includes(`"${letter.id}"`);
  return (
    !world.queue.some(same) &&
    !world.dead.some(same) &&
    (letter.id === undefined || world.repliesTo(letter.id).length === 0)
  );
}

function wrongAtTheEnd(world: World, letters: readonly Letter[]): readonly string[] {
  const isPoison = (body: string) => letters.some((one) => one.body === body && one.id === undefined);
  const ids = new Set(world.published.map(({ detail }) => String(JSON.parse(detail).request_id)));
  return [
    ...world.queue.map(({ body }) => `still in the queue: ${body}`),
    ...letters.filter((one) => isLost(world, one)).map(({ body }) => `lost at the end: ${body}`),
    ...[...ids].filter((id) => world.repliesTo(id).length > 1).map((id) => `more than one content: ${id}`),
    ...world.dead
      .filter(({ body, reason }) => reason !== redriven && !isPoison(body))
      .map(({ body, reason }) => `a dead letter though it is good: ${body} (${reason})`),
    ...world.waits
      .filter(({ seconds }) => !Number.isInteger(seconds) || seconds < 1 || seconds > 900)
      .map(({ seconds }) => `no queue waits for ${seconds} seconds`),
  ];
}
