/** The table of all operations in docs/operations.md: what each is, and where every fact about it comes from. */

import { type Group, groups, limits, type Operation, type Source } from '../../lib/catalogue/index.ts';

/** @returns Markdown, the same for the same operations */
export function operationsTable(operations: readonly Operation[]): string {
  const decisions = new Decisions();
  const ofGroup = (group: Group) => operations.filter((operation) => operation.group === group);
  const sections = (Object.keys(groups) as Group[])
    .filter((group) => ofGroup(group).length > 0)
    .map((group) => section(group, ofGroup(group), decisions));
  const routed = operations.reduce((count, { aliases }) => count + 1 + aliases.length, 0);
  return `${[
    '# Operations',
    'For developers who call the interface: every operation with its paths, parameters and limit, and where each fact comes from.',
    'Made from `lib/catalogue` by `npm run docs`; a test keeps it current.',
    `${operations.length} operations on ${routed} paths. An alias takes and answers the same as the first path.`,
    ...rules,
    ...sections,
    sideEffects(operations.filter(({ sideEffect }) => sideEffect)),
    decisions.list(),
  ].join('\n\n')}\n`;
}

const rules = [
  `**Unknown parameters.** The gateway refuses a query parameter that an operation does not name: a misspelt one would
otherwise change an answer silently. The exception is an operation marked _any_ below. Members of a body that its schema
does not name pass: bodies grow, and no source lists some of their members.`,
  `**Authentication.** _key_: an API key, which counts requests and says which app calls, not who. _closed_: belongs to one
account at the upstream; the deployer opens the group, with AWS signatures (\`groups.NAME: 'iam'\`). _never_: for the
operator’s own client; no gateway serves it. _none_: every gateway answers it by itself, to everybody.`,
  `**Older forms** are kept for clients in the field: their paths, parameters and shapes of answers are of an earlier
version. They need what their group needs. The typed client has no methods for them.`,
  `**Sources**, for path · request · answer: **I** the interface text, which wins every conflict, **L** seen live, **S** the
vendor’s SDK, **D** the vendor’s documents, **?** inferred.`,
];

const authentication = { public: 'none', open: 'key', closed: 'closed', never: 'never' };

function section(group: Group, operations: readonly Operation[], decisions: Decisions): string {
  const { title, exposure } = groups[group];
  return [
    `## ${title}`,
    '',
    `Group \`${group}\`, authentication: _${authentication[exposure]}_.`,
    '',
    '| Operation | Method and paths | Parameters, the required ones in bold | Limit | Sources | Decided |',
    '|---|---|---|---|---|---|',
    ...operations.map((operation) => row(operation, decisions)),
  ].join('\n');
}

function row(operation: Operation, decisions: Decisions): string {
  const { id, title, method, path, aliases, limit, sources } = operation;
  const cells = [
    [`\`${id}\``, title, ...marks(operation)].join('<br>'),
    [`${method} \`${path}\``, ...aliases.map((alias) => `\`${alias}\``)].join('<br>'),
    parameters(operation),
    limit ? limitInBrief(limit) : '',
    [sources.path, sources.request, sources.response].map(letters).join(' · '),
    (operation.decisions ?? []).map((decision) => decisions.number(decision)).join(', '),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

const marks = ({ deprecated, legacyOf, gatewayAnswer }: Operation): readonly string[] => [
  ...(deprecated ? [`${legacyOf ? '_Older form._' : '_Deprecated._'} ${deprecated}`] : []),
  ...(gatewayAnswer ? [`_Never sent_: ${gatewayAnswer.reason}.`] : []),
];

function parameters({ query, anyQuery, body, headers = [] }: Operation): string {
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
};

const letters = (sources: readonly Source[]) => sources.map((source) => letterOf[source]).join('');

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

/** Several operations share a decision: the page has it once, under a number. */
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
