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

const markdownTable = (head: readonly string[], rows: readonly (readonly unknown[])[]) => [
  `| ${head.join(' | ')} |`,
  `|${head.map(() => '---').join('|')}|`,
  ...rows.map((cells) => `| ${cells.join(' | ')} |`),
];

const stepLines = ({ steps }: ProofReport) =>
  markdownTable(
    ['Step', 'Result', 'Seconds', 'What it says'],
    steps.map(({ name, result, seconds, says }) => [
      name,
      result,
      seconds,
      says.replaceAll('\n', ' ').replaceAll('|', '\\|'),
    ]),
  );

const comparedLines = ({ compared }: ProofReport) =>
  markdownTable(
    ['What', 'Page', 'There', 'Measured', 'Verdict'],
    compared.map((one) => [
      one.what,
      one.page,
      figureText(one.figure, one.unit),
      figureText(one.measured, one.unit),
      verdictOf(one),
    ]),
  );

const figureText = (value: number | undefined, unit: ComparedFigure['unit']) =>
  value === undefined
    ? 'not measured'
    : unit === '$'
      ? dollars(value)
      : `${Math.round(100 * value) / 100}${unit && ` ${unit}`}`;

const startLines = ({ startUp }: ProofReport) =>
  startUp.length > 0
    ? markdownTable(
        ['Function', 'Starts', 'Init, ms', 'First run with it, ms', 'Later runs, ms', 'Memory, MB'],
        startUp.map((one) => [
          one.function,
          one.starts,
          one.initMs,
          one.firstMs,
          one.warmMs ?? '-',
          one.usedMiB,
        ]),
      )
    : ['No line of Lambda’s with an Init Duration was found.'];

const sumLines = ({ sums }: ProofReport) =>
  Object.keys(sums).length > 0
    ? markdownTable(['Since the deployment', 'Sum'], Object.entries(sums))
    : ['CloudWatch had no figures yet.'];

const callLines = ({ groups }: ProofReport) =>
  markdownTable(
    ['Group', 'Operation', 'Access', 'Outcomes', 'Waits', 'Median, ms', 'Most, ms', 'Oldest answer, s'],
    groups.map((one) => [
      one.group,
      one.operation,
      one.access,
      outcomesInWords(one.outcomes),
      one.waits,
      one.ms?.median ?? '-',
      one.ms?.most ?? '-',
      one.oldestSeconds ?? '-',
    ]),
  );

const streamLines = ({ stream }: ProofReport) =>
  stream
    ? [
        `First quotes after ${stream.firstMs ?? '-'} ms, ${stream.updates} updates in ${stream.seconds} s, the oldest quote ${stream.oldestMs ?? '-'} ms old.`,
      ]
    : [];

const priceLines = ({ lines, total, missing }: Price) => [
  ...markdownTable(
    ['Paid for', 'Dollars'],
    [...Object.entries(lines), ['**All of it**', total] as const].map(([name, amount]) => [
      name,
      `$${amount.toFixed(5)}`,
    ]),
  ),
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
