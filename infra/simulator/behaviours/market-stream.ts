/** Subscriptions of the market-data stream. Order and words of the checks are the upstream's, as far as they were seen. */

import * as v from 'valibot';
import { type Operation, subscribeMarketData, unsubscribeMarketData } from '../../../lib/catalogue/index.ts';
import type { Instrument } from '../market/instrument.ts';
import { illegalParameter, type Rejection, refuse, wrongValue } from '../refusal.ts';
import { type StreamSession, type SubType, subTypes } from '../stream-sessions.ts';
import { notSubscribed, type World } from '../world.ts';
import { type ApiCall, answer, type Behaviours } from './behaviour.ts';
import { isRefusal } from './find.ts';

const nonEmptyText = v.pipe(v.string(), v.nonEmpty());
const symbols = v.pipe(
  v.array(nonEmptyText),
  v.minLength(1),
  v.maxLength(100),
  v.check((list) => new Set(list).size === list.length),
);
const types = v.pipe(v.array(nonEmptyText), v.minLength(1));

const subscription = v.looseObject({
  session_id: nonEmptyText,
  symbols,
  category: nonEmptyText,
  sub_types: types,
  grab: v.optional(v.picklist(['true', 'false'])),
  depth: v.optional(
    v.union([v.pipe(v.string(), v.regex(/^[1-9]\d?$/)), v.pipe(v.number(), v.integer(), v.minValue(1))]),
  ),
  overnight_required: v.optional(v.boolean()),
});

const unsubscription = v.looseObject({
  session_id: nonEmptyText,
  symbols: v.optional(symbols),
  category: v.optional(nonEmptyText),
  sub_types: v.optional(types),
  unsubscribe_all: v.optional(v.boolean()),
});

const bodies: Readonly<Record<string, v.GenericSchema>> = {
  [subscribeMarketData.id]: subscription,
  [unsubscribeMarketData.id]: unsubscription,
};

/** Replaces the body's schema by one that is checked before the session; wrong values are refused only after it. */
export function asOnTheWire(operation: Operation): Operation {
  const body = bodies[operation.id];
  return body ? { ...operation, body } : operation;
}

export const marketStream: Behaviours = {
  subscribeMarketData: (call, world) => {
    const request = call.body as v.InferOutput<typeof subscription>;
    const session = sessionOf(call, world);
    if (isRefusal(session)) return session;
    const refused =
      typeFault(request.sub_types) ??
      categoryFault(call, request.category) ??
      notSubscribed(world, request.category);
    if (refused) return refused;
    const found = findAll(world, request.symbols, request.category);
    if (isRefusal(found)) return found;
    const { depthLevels } = world;
    const depth = Number(request.depth ?? Math.min(10, depthLevels));
    if (depth > depthLevels) return refuse(417, 'ILLEGAL_PARAMETER', `depth not more than ${depthLevels}`);
    if (new Set([...session.symbols, ...request.symbols]).size > maxSymbols)
      return refuse(
        417,
        'TOO_MANY_SYMBOLS_SUBSCRIPTION',
        `Maximum number of subscribe tickers:${maxSymbols}`,
      );
    session.subscribe(found, request.sub_types as SubType[], {
      depth,
      overnight: request.overnight_required === true,
    });
    return answer({});
  },

  unsubscribeMarketData: (call, world) => {
    const { unsubscribe_all, ...asked } = call.body as v.InferOutput<typeof unsubscription>;
    const session = sessionOf(call, world);
    if (isRefusal(session)) return session;
    if (unsubscribe_all) {
      session.unsubscribe(session.symbols, subTypes);
      return answer({});
    }
    const { symbols, category, sub_types } = asked;
    const missing = (['symbols', 'category', 'sub_types'] as const).find((name) => asked[name] === undefined);
    if (missing || !symbols || !category || !sub_types) return illegalParameter(missing ?? 'body');
    const refused = typeFault(sub_types) ?? categoryFault(call, category);
    if (refused) return refused;
    session.unsubscribe(symbols, sub_types as SubType[]);
    return answer({});
  },
};

/** Maximum number of symbols that a session may subscribe to, over all types. */
const maxSymbols = 100;

function sessionOf({ body, appKey, now }: ApiCall, { streamSessions }: World): StreamSession | Rejection {
  const { session_id: id } = body as { readonly session_id: string };
  return (
    streamSessions.find(id, appKey, now) ??
    refuse(417, 'INVALID_SESSION', `Mqtt connection not exist for session:${id}`)
  );
}

function typeFault(asked: readonly string[]): Rejection | undefined {
  const unknown = asked.filter((type) => !(subTypes as readonly string[]).includes(type));
  return unknown.length > 0
    ? refuse(417, 'UNSUPPORTED_SUB_TYPE', `Subtype not supported:${unknown.join('')}`)
    : undefined;
}

const categoryFault = ({ operation }: ApiCall, category: string): Rejection | undefined =>
  ['US_STOCK', 'US_ETF'].includes(category) ? undefined : wrongValue(operation, 'category');

/** Finds all instruments; a fund's symbol passes as a stock, too. */
function findAll(
  { universe }: World,
  symbols: readonly string[],
  category: string,
): readonly Instrument[] | Rejection {
  const found = symbols.map((symbol) => universe.get(symbol));
  const unknown = symbols.filter(
    (_, at) => found[at] === undefined || (category === 'US_ETF' && found[at].category !== 'US_ETF'),
  );
  return unknown.length > 0
    ? refuse(417, 'INVALID_SYMBOL', `The symbols does not exist in the category. [${unknown.join(', ')}]`)
    : (found as Instrument[]);
}
