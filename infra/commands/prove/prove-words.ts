/** Report of `countersign prove` as Markdown for a person; programs read the JSON. */

import { dollars } from '../../cost/cost-tables.ts';
import type { LimitTrial, Outcomes } from './prove-calls.ts';
import type { OrderTrial } from './prove-order.ts';
import { type ComparedFigure, isProven, type Price, type ProofReport, verdictOf } from './prove-report.ts';

export function proofInWords(report: ProofReport): string {
  const { stack, version, region, began, minutes, limit, order, left } = report;
  const sections: Readonly<Record<string, readonly string[]>> = {
    Steps: stepLines(report),
    'Beside the pages': comparedLines(report),
    'What no emulator shows: starts of functions': startLines(report),
    'What no emulator shows: what CloudWatch counted': sumLines(report),
    'Calls of each group': callLines(report),
    'The limit': limit ? [limitInWords(limit)] : [],
    'The order': order ? [orderInWords(order)] : [],
    'A stream of quotes': streamLines(report),
    'Price so far': report.price ? priceLines(report.price) : [],
    'What is left in the account': left.length > 0 ? left.map((one) => `- ${one}`) : ['Nothing.'],
  };
  return `${[
    `# ${stack} on AWS`,
    '',
    `${isProven(report) ? 'Each step was done.' : 'Not each step was done.'} Began ${began}, ${minutes} minutes, ${region}${version === undefined ? '' : `, version ${version}`}. Made by \`countersign prove\`; it holds no key, no token and no account id.`,
    ...Object.entries(sections).flatMap(([title, lines]) =>
      lines.length > 0 ? ['', `## ${title}`, '', ...lines] : [],
    ),
  ].join('\n')}\n`;
}

/** @param columns by their heads: each cell of a row */
const markdownTable = <R>(rows: readonly R[], columns: Readonly<Record<string, (row: R) => unknown>>) => [
  `| ${Object.keys(columns).join(' | ')} |`,
  `|${'---|'.repeat(Object.keys(columns).length)}`,
  ...rows.map(
    (row) =>
      `| ${Object.values(columns)
        .map((cell) => cell(row))
        .join(' | ')} |`,
  ),
];

const stepLines = ({ steps }: ProofReport) =>
  markdownTable(steps, {
    Step: ({ name }) => name,
    Result: ({ result }) => result,
    Seconds: ({ seconds }) => seconds,
    'What it says': ({ says }) => says.replaceAll('\n', ' ').replaceAll('|', '\\|'),
  });

const comparedLines = ({ compared }: ProofReport) =>
  markdownTable(compared, {
    What: ({ what }) => what,
    Page: ({ page }) => page,
    There: ({ figure, unit }) => figureText(figure, unit),
    Measured: ({ measured, unit }) => figureText(measured, unit),
    Verdict: verdictOf,
  });

const figureText = (value: number | undefined, unit: ComparedFigure['unit']) =>
  value === undefined
    ? 'not measured'
    : unit === '$'
      ? dollars(value)
      : `${Math.round(100 * value) / 100}${unit && ` ${unit}`}`;

const startLines = ({ startUp }: ProofReport) =>
  startUp.length > 0
    ? markdownTable(startUp, {
        Function: (one) => one.function,
        Starts: ({ starts }) => starts,
        'Init, ms': ({ initMs }) => initMs,
        'First run with it, ms': ({ firstMs }) => firstMs,
        'Later runs, ms': ({ warmMs }) => warmMs ?? '-',
        'Memory, MB': ({ usedMiB }) => usedMiB,
      })
    : ['No line of Lambda’s with an Init Duration was found.'];

const sumLines = ({ sums }: ProofReport) =>
  Object.keys(sums).length > 0
    ? markdownTable(Object.entries(sums), { 'Since the deployment': ([name]) => name, Sum: ([, sum]) => sum })
    : ['CloudWatch had no figures yet.'];

const callLines = ({ groups }: ProofReport) =>
  markdownTable(groups, {
    Group: ({ group }) => group,
    Operation: ({ operation }) => operation,
    Access: ({ access }) => access,
    Outcomes: ({ outcomes }) => outcomesInWords(outcomes),
    Waits: ({ waits }) => waits,
    'Median, ms': ({ ms }) => ms?.median ?? '-',
    'Most, ms': ({ ms }) => ms?.most ?? '-',
    'Oldest answer, s': ({ oldestSeconds }) => oldestSeconds ?? '-',
  });

const streamLines = ({ stream }: ProofReport) =>
  stream
    ? [
        `First quotes after ${stream.firstMs ?? '-'} ms, ${stream.updates} updates in ${stream.seconds} s, the oldest quote ${stream.oldestMs ?? '-'} ms old.`,
      ]
    : [];

const priceLines = ({ lines, total, missing }: Price) => [
  ...markdownTable([...Object.entries(lines), ['**All of it**', total] as const], {
    'Paid for': ([name]) => name,
    Dollars: ([, amount]) => `$${amount.toFixed(5)}`,
  }),
  '',
  `Prices of docs/cost.md, without free tiers.${missing.length > 0 ? ` Not in it, because there were no figures yet: ${missing.join(', ')}.` : ''}`,
];

const outcomesInWords = (outcomes: Outcomes) =>
  Object.entries(outcomes)
    .map(([code, count]) => `${count} ${code}`)
    .join(', ') || 'none';

/** Says in words what became of the order. */
export function orderInWords({
  placed,
  ended,
  clientOrderId,
  limitPrice,
  code,
  cancelCode,
  told,
  replaceCode,
}: OrderTrial): string {
  const what = `One share, limit ${limitPrice}, client_order_id ${clientOrderId}`;
  const cancelled = cancelCode === undefined ? '' : ` The cancel was answered ${cancelCode}.`;
  if (placed === 'refused') return `${what}: refused${code ? ` with ${code}` : ''}; nothing was placed.`;
  const first = placed === 'accepted' ? 'accepted' : 'it is not known whether it was placed';
  if (ended === 'unknown')
    return `${what}: ${first}.${cancelled} **Whether it is open is not known: look it up at the broker, and cancel it there.**`;
  const heard = (name: string, ms: number | undefined) =>
    ms === undefined
      ? ` The stream did not tell the ${name}.`
      : ` The stream told the ${name} after ${ms} ms.`;
  const replaced =
    replaceCode === undefined
      ? heard('replacement', told?.replaced)
      : ` The replacement was answered ${replaceCode}.`;
  const byStream = told ? `${replaced}${heard('cancellation', told.cancelled)}` : '';
  return `${what}: ${first}, then ${ended}.${cancelled}${byStream}`;
}

export const limitInWords = ({ allowed, share, sent, outcomes, holds }: LimitTrial): string =>
  `The upstream allows ${allowed}; the stage takes ${share} of it. Sent ${sent}: ${outcomesInWords(outcomes)}. ${
    holds === undefined
      ? 'The limit was not reached.'
      : holds
        ? 'The gateway refused the rest, and the upstream nothing.'
        : 'The gateway let through more than its part.'
  }`;
