/**
 * Arranges a document for the local run's page, where a person reads and tries calls: frequent first calls stand first,
 * notes are folded, older forms stand apart, and orders have examples that the simulated upstream accepts now. No
 * generator reads it.
 */

import type { Group } from '../../lib/catalogue/index.ts';
import { isGuarded, type Operation } from '../../lib/catalogue/operation.ts';
import { filledOrder, restingOrder } from '../example-orders.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { descriptionInTwo } from './description.ts';

interface ReferenceOptions {
  /** Operations of the document. */
  readonly operations: readonly Operation[];
  /** Whether the upstream is the simulator, whose market accepts the examples. */
  readonly isSimulated: boolean;
}

/** Descriptions of the tags, in the page's order. */
const tagTexts = {
  'market-data': 'Quotes, bars and ticks, when you ask and as they come.',
  orders: 'Place one first; then change, cancel and read it.',
  accounts: 'Accounts, with their balances and positions.',
  watchlists: 'Lists of symbols that the upstream keeps.',
  instruments: 'Which symbols there are.',
  screeners: 'Rankings of the market.',
  fundamentals: 'Companies, funds and calendars.',
  config: 'What the gateway answers by itself.',
  auth: 'Tokens.',
  'market-stream': 'Subscriptions of the upstream’s real-time channel.',
  'older-forms': 'What existing clients still call. Each says what to call now.',
} as const satisfies Record<Group | 'older-forms', string>;

type Tag = keyof typeof tagTexts;
const tagOrder = Object.keys(tagTexts) as readonly Tag[];

const answeredOf = (sideEffect: Operation['sideEffect']) =>
  sideEffect?.journal?.by === 'client_order_id' ? sideEffect.journal.answered : undefined;

/** Ranks of operations within a tag: a person's first calls stand before the rest. */
const rankTests: readonly ((operation: Operation) => boolean)[] = [
  ({ freshness }) => freshness === 'by-symbol',
  ({ follows }) => follows !== undefined,
  ({ sideEffect }) => answeredOf(sideEffect) === 'together',
  ({ sideEffect }) => answeredOf(sideEffect) === 'each',
  isGuarded,
  ({ sideEffect }) => sideEffect?.cancels === true,
  () => true,
];

/** @param document made by `openApiDocument` */
export function forReference(
  document: JsonObject,
  { operations, isSimulated }: ReferenceOptions,
): JsonObject {
  const documentPaths = document.paths as Readonly<Record<string, JsonObject>>;
  const sorted = operations.toSorted((one, other) => placeOf(one) - placeOf(other));
  const tags = document.tags as readonly JsonObject[];
  const paths: Record<string, JsonObject> = {};
  for (const operation of sorted) {
    const { path } = operation;
    const method = operation.method.toLowerCase();
    const entry = shownOf(operation, documentPaths[path]?.[method] as JsonObject, isSimulated);
    paths[path] = { ...paths[path], [method]: entry };
  }
  return {
    ...document,
    info: infoOf(document.info as JsonObject, tags),
    tags: tagOrder
      .filter((name) => sorted.some((operation) => tagOf(operation) === name))
      .map((name) => ({ name, description: tagTexts[name] })),
    paths,
  };
}

const tagOf = ({ group, legacyOf }: Operation): Tag => (legacyOf === undefined ? group : 'older-forms');

const placeOf = (operation: Operation): number =>
  tagOrder.indexOf(tagOf(operation)) * rankTests.length + rankTests.findIndex((isAt) => isAt(operation));

/** Markdown with a comment after which the page folds the text. */
const foldedText = (title: string, text: string): string => `<!-- fold: ${title} -->\n\n${text}`;

const notesOf = ({ name, description }: JsonObject): string =>
  `**${name}**: ${String(description).replace(/^Closed until/, 'Open in this run; a deployment keeps it closed until')}`;

const infoOf = ({ description, ...info }: JsonObject, tags: readonly JsonObject[]): JsonObject => ({
  ...info,
  description: [
    'Open an operation, and press **Execute**.',
    foldedText('How the interface behaves', String(description)),
    foldedText('Whom each group answers', tags.map(notesOf).join('\n\n')),
  ].join('\n\n'),
});

function shownOf(operation: Operation, shown: JsonObject, isSimulated: boolean): JsonObject {
  const { first, more } = descriptionInTwo(operation);
  const examples = isSimulated ? examplesOf(operation) : undefined;
  return {
    ...shown,
    tags: [tagOf(operation)],
    description: [first, ...(more ? [foldedText('Notes and decisions', more)] : [])].join('\n\n'),
    ...(examples && { requestBody: withExamples(shown.requestBody as JsonObject, examples) }),
  };
}

function withExamples(requestBody: JsonObject, examples: JsonObject): JsonObject {
  const content = requestBody.content as Readonly<Record<string, JsonObject>>;
  return {
    ...requestBody,
    content: Object.fromEntries(
      Object.entries(content).map(([type, { example: _, ...media }]) => [type, { ...media, examples }]),
    ),
  };
}

/** Example orders at the prices of this moment, in place of those from the day on which the catalogue was written. */
function examplesOf({ example: { body } }: Operation): JsonObject | undefined {
  const json = body as Json | undefined;
  const list = isJsonObject(json) && (['new_orders', 'batch_orders'] as const).find((name) => json[name]);
  if (!isJsonObject(json) || !list) return undefined;
  // The upstream accepts several orders at once only for the day, and a single day order not after the close.
  const duration = list === 'batch_orders' ? { time_in_force: 'DAY' } : {};
  const withOrders = (terms: JsonObject, summary: string): JsonObject => ({
    summary,
    value: {
      ...json,
      [list]: (json[list] as readonly JsonObject[]).map(({ client_order_id }) => ({
        ...(client_order_id !== undefined && { client_order_id }),
        ...terms,
        ...duration,
      })),
    },
  });
  return {
    filled: withOrders(filledOrder, 'At the market: filled within seconds'),
    resting: withOrders(restingOrder, 'Far below the market: it rests, to be changed or cancelled'),
  };
}
