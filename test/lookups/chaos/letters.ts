/** What is sent in a scenario: requests, copies of them, replays, and poison. */

import type { Dice } from '../../world/random.ts';

export interface Letter {
  readonly afterMs: number;
  readonly body: string;
  /** Of the request; poison has none. */
  readonly id?: string;
}

/** No letter is sent later than this after the beginning. */
export const lastLetterMs = 100_000;

export function drawLetters(dice: Dice, now: number): readonly Letter[] {
  const requests = Array.from({ length: 1 + dice.below(12) }, (_, index) => drawRequest(dice, index, now));
  const poison = Array.from({ length: dice.below(4) }, (_, index) => ({
    afterMs: dice.below(60_000),
    body: drawPoison(dice, index),
  }));
  return [...requests.flat(), ...poison];
}

/** A request with its copies, all of one requester: bare, as an event, or as an event of an archive. */
function drawRequest(dice: Dice, index: number, now: number): readonly Letter[] {
  const id = `request-${index}`;
  const asked = { request_id: id, ...drawQuestion(dice), ...drawPatience(dice, now) };
  const detailType = 'operation' in asked ? 'ReadRequested' : 'QuoteLookupRequested';
  const source = dice.chance(0.3) ? undefined : `app-${dice.below(3)}`;
  const copies = dice.chance(0.5) ? dice.below(4) : 0;
  return Array.from({ length: 1 + copies }, (_, copy) => ({
    id,
    afterMs: dice.below(copy === 0 ? 20_000 : lastLetterMs),
    body: JSON.stringify(
      source === undefined
        ? asked
        : {
            'detail-type': detailType,
            source,
            ...(dice.chance(0.2) && { 'replay-name': 'again' }),
            detail: asked,
          },
    ),
  }));
}

function drawQuestion(dice: Dice): object {
  if (dice.chance(0.2))
    return { operation: 'getStockSnapshots', query: { symbols: `S${dice.below(3)}`, category: 'US_STOCK' } };
  // Few names, so that requests share calls; now and then one that the upstream rejects.
  const drawSymbol = () => `${dice.chance(0.1) ? 'X' : 'S'}${dice.below(12)}`;
  return { symbols: Array.from({ length: 1 + dice.below(8) }, drawSymbol), category: 'US_STOCK' };
}

/** Some wait for a short time only, some are late before they are sent. */
function drawPatience(dice: Dice, now: number): object {
  if (dice.chance(0.3)) return { deadline_seconds: 1 + dice.below(60) };
  if (dice.chance(0.2)) return { deadline: new Date(now - 20_000 + dice.below(100_000)).toISOString() };
  return {};
}

/** No JSON, or a request that cannot be, of which some have an id and some of these the same. */
function drawPoison(dice: Dice, index: number): string {
  if (dice.chance(0.5)) return `poison ${index}`;
  const id = dice.chance(0.5) ? 'wrong' : `wrong-${index}`;
  return JSON.stringify({ request_id: id, symbols: ['A'], category: `NO${index}` });
}
