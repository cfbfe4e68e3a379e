/** Makes docs/operations.md: what each operation is, and where every fact about it comes from. */

import { maxFreeParameters } from '../../lib/catalogue/free-parameters.ts';
import { isAccountData } from '../../lib/catalogue/groups.ts';
import {
  type Group,
  type GroupFacts,
  groups,
  limits,
  type Note,
  type Operation,
  type Source,
} from '../../lib/catalogue/index.ts';
import { scopeOf } from '../../lib/catalogue/scopes.ts';
import { notImitated } from './not-imitated.ts';

/** @returns Markdown, the same for the same operations */
export function operationsTable(operations: readonly Operation[]): string {
  const decisions = new Decisions();
  const ofGroup = (group: Group) => operations.filter((operation) => operation.group === group);
  const sections = (Object.keys(groups) as Group[])
    .filter((group) => ofGroup(group).length > 0)
    .map((group) => groupSection(group, ofGroup(group), decisions));
  const own = operations.filter(({ answeredBy }) => answeredBy).length;
  const routed = operations.reduce((count, { aliases }) => count + 1 + aliases.length, 0);
  return `${[
    '# Operations',
    'For developers who call the interface: every operation with its paths, parameters and limit, and where each fact comes from.',
    'Made from `lib/catalogue` by `npm run docs`; a test keeps it current.',
    `${operations.length} operations on ${routed} paths, ${own} of them the gateway’s own. An alias takes and answers the same as the first path.`,
    ...rules,
    ...sections,
    sideEffects(operations.filter(({ sideEffect }) => sideEffect)),
    decisions.list(),
    knownNotImitated,
  ].join('\n\n')}\n`;
}

const rules = [
  `**Unknown parameters.** The gateway refuses a query parameter that an operation does not name: a misspelt one would
otherwise change an answer silently. The exception is an operation marked _any_ below: it takes up to
${maxFreeParameters} of them, of any name but a signing header’s. Members of a body that its schema does
not name pass: bodies grow, and no source lists some of their members. In both, the gateway refuses a name with \`account\`
in it that the operation does not have. \`null\` passes for every optional member of a
body, as left out: clients send it so, and the upstream accepts it (seen live).`,
  `**Answers** pass byte for byte. A number that the upstream does not report is \`""\` or \`null\` or left out; a time is an
integer of milliseconds, the same in digits, ISO 8601 text with \`+0000\` or \`yyyyMMdd\` (seen live). The types take all of
them, and the [client’s helpers](library.md#values-in-several-forms) read them. An answer may have further members.
The last of several pages has no \`pagination_key\` (seen live).`,
  `**Aliases.** Both families of paths, \`/trading/…\` and \`/openapi/…\`, are live (seen live).`,
  `**Authentication.** _key_: an API key, which counts requests and says which app calls, not who. _closed_: belongs to one
account at the upstream; the deployer opens the group to callers who show who they are (\`groups.NAME\`). _never_: for the
operator’s own client; no gateway serves it. _none_: every gateway answers it by itself, to everybody.`,
  `**Scopes and accounts.** A caller of a closed group needs the operation’s scope: \`read\` looks, \`trade\` places and
changes orders, \`write\` changes what else belongs to the upstream’s user. It needs it for each account that the request
names, at the places given here; of a list of accounts it gets those records alone. An operation without an account, such
as those of watchlists, belongs to the upstream’s user: only those get it to whom the user’s data was granted.`,
  `**Older forms** are kept for clients in the field: their paths, parameters and shapes of answers are of an earlier
version. They need what their group needs. The typed client has no methods for them.`,
  `**Sources**, for path · request · answer: **I** the interface text, which wins every conflict, **L** seen live by
others, which wins over the vendor’s pages, **S** the vendor’s SDK, **D** the vendor’s documents, **?** inferred, **G** the gateway’s own operation. A note
names its source behind it. Nothing here was tried against the live upstream by this project.`,
];

const authentication = { public: 'none', open: 'key', closed: 'closed', never: 'never' };

function groupSection(group: Group, operations: readonly Operation[], decisions: Decisions): string {
  const { title, exposure, notes = [] }: GroupFacts = groups[group];
  return [
    `## ${title}`,
    '',
    `Group \`${group}\`, authentication: _${authentication[exposure]}_.`,
    '',
    '| Operation | Method and paths | Parameters, the required ones in bold | Limit | Sources | Decided |',
    '|---|---|---|---|---|---|',
    ...operations.map((operation) => row(operation, decisions)),
    ...notesOf(notes, operations),
  ].join('\n');
}

/** Lists the notes of a group and its operations; a note that several operations share appears once. */
function notesOf(ofGroup: readonly Note[], operations: readonly Operation[]): readonly string[] {
  const about = new Map<string, string[]>(ofGroup.map((note) => [withSource(note), ['All']]));
  for (const { id, notes = [] } of operations)
    for (const note of notes.map(withSource)) about.set(note, [...(about.get(note) ?? []), `\`${id}\``]);
  if (about.size === 0) return [];
  return ['', ...[...about].map(([note, ids]) => `- ${ids.join(', ')}: ${note}`)];
}

export const withSource = ({ text, source }: Note): string => `${text} _(${wordsOf[source]})_`;

const wordsOf: Readonly<Record<Source, string>> = {
  interface: 'interface text',
  observed: 'seen live',
  'vendor-sdk': 'vendor’s SDK',
  'vendor-docs': 'vendor’s page',
  inferred: 'inferred',
  gateway: 'the gateway’s own',
};

function row(operation: Operation, decisions: Decisions): string {
  const { id, title, method, path, aliases, limit, sources } = operation;
  const cells = [
    [`\`${id}\``, title, ...marksOf(operation)].join('<br>'),
    [`${method} \`${path}\``, ...aliases.map((alias) => `\`${alias}\``)].join('<br>'),
    parametersOf(operation),
    limit ? limitInBrief(limit) : '',
    [sources.path, sources.request, sources.response].map(lettersOf).join(' · '),
    (operation.decisions ?? []).map((decision) => decisions.number(decision)).join(', '),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

const marksOf = ({
  deprecated,
  legacyOf,
  gatewayAnswer,
  answeredBy,
  ...operation
}: Operation): readonly string[] => [
  ...(isAccountData(operation.group) ? [`Scope \`${scopeOf(operation)}\`${placesOf(operation)}`] : []),
  ...(deprecated ? [`${legacyOf ? '_Older form._' : '_Deprecated._'} ${deprecated}`] : []),
  ...(answeredBy ? [`_Never sent_: answered from the gateway’s ${answeredBy} of orders.`] : []),
  ...(gatewayAnswer ? [`_Never sent_: ${gatewayAnswer.reason}.`] : []),
];

function placesOf({ accounts: { query = [], body = [], records } = {} }: Operation): string {
  const places = [
    ...query.map((name) => `parameter \`${name}\``),
    ...body.map((pointer) => `body \`${pointer}\``),
    ...(records ? [`filtered by \`${records.by}\` of each record`] : []),
  ];
  return places.length > 0 ? `; account: ${places.join(', ')}` : '';
}

function parametersOf({ query, anyQuery, body, headers = [] }: Operation): string {
  const names = Object.entries(query).map(([name, { required }]) =>
    required ? `**\`${name}\`**` : `\`${name}\``,
  );
  return [
    ...names,
    ...(anyQuery ? ['_any_'] : []),
    ...(body ? ['**JSON body**'] : []),
    ...headers.map((name) => `header \`${name}\``),
  ].join(', ');
}

function limitInBrief(name: NonNullable<Operation['limit']>): string {
  const { requests, perSeconds } = limits[name];
  return `${requests} in ${perSeconds} s`;
}

const letterOf: Readonly<Record<Source, string>> = {
  interface: 'I',
  observed: 'L',
  'vendor-sdk': 'S',
  'vendor-docs': 'D',
  inferred: '?',
  gateway: 'G',
};

const lettersOf = (sources: readonly Source[]) => sources.map((source) => letterOf[source]).join('');

function sideEffects(operations: readonly Operation[]): string {
  return [
    '## Side effects',
    '',
    'Sent at most once. When the answer is lost, the gateway answers `outcome_unknown`, with this as `find_out`:',
    '',
    '| Operation | How to find out |',
    '|---|---|',
    ...operations.map(({ id, sideEffect }) => `| \`${id}\` | ${sideEffect?.findOut ?? ''} |`),
  ].join('\n');
}

const knownNotImitated = [
  '## Known, not imitated',
  '',
  'What the live upstream was seen to do, or its vendor says, and neither simulator nor catalogue does:',
  '',
  '| Fact | Why not |',
  '|---|---|',
  ...notImitated.map(({ fact, reason }) => `| ${fact} | ${reason} |`),
].join('\n');

/** Numbers the decisions, because several operations share one: the page has each once. */
class Decisions {
  readonly #numbers = new Map<string, number>();

  number(decision: string): number {
    const known = this.#numbers.get(decision) ?? this.#numbers.size + 1;
    this.#numbers.set(decision, known);
    return known;
  }

  list(): string {
    return [
      '## Decided where sources conflict or are silent',
      '',
      ...[...this.#numbers].map(([decision, number]) => `${number}. ${decision}`),
    ].join('\n');
  }
}
