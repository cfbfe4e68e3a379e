/** Makes the table of alarms in docs/operation.md. */

import {
  type AlarmRow,
  type AlarmSubject,
  alarmRows,
  firstCommand,
  formulaOf,
  runbookAnchor,
} from '../stack/alarm-table.ts';

const alarmPlaces: Readonly<Partial<Record<AlarmSubject, string>>> = {
  'journal-table': 'where orders or watchlists are open',
  'order-audit': 'where orders or watchlists are open',
  'order-audit-lost': 'where orders or watchlists are open',
  'controls-table': 'where orders are open',
  'order-settlement': 'where orders are open',
  'mass-cancels': 'where orders are open',
  'trading-stop': 'with `trading.stopOnAlarms`',
  'trading-stop-lost': 'with `trading.stopOnAlarms`',
  'lookup-dead-letters': 'with `events`',
  'access-token': 'with `accessToken`',
  canary: 'with `canary`',
  'trade-events': 'with `tradeEvents`',
  'market-stream': 'with `marketStream`',
  'market-data': 'where market data is open',
  quotes: 'where quotes are shared',
};

/** @returns the table's lines; the first is the one by which the page's table is found */
export const alarmTableLines = (): readonly string[] => [
  '| Alarm | Rings when | Why this threshold | First command |',
  '|---|---|---|---|',
  ...alarmRows.map(([name, row]) => {
    const place = alarmPlaces[row.of];
    const first = `\`${firstCommand(row, '--stage prod')}\``;
    const runbook = `[${row.runbook}](runbook.md#${runbookAnchor(row.runbook)})`;
    const cells = [
      `\`${name}\`${place ? `, ${place}` : ''}`,
      `${row.says} ${ruleInWords(row)}`,
      row.why,
      `${first}; ${runbook}`,
    ];
    return `| ${cells.join(' | ')} |`;
  }),
];

function ruleInWords({ metric, statistic, threshold, minutes, ...row }: AlarmRow): string {
  const { periods = 1, breaching = periods, comparison = '>=', missing } = row;
  const bound = typeof threshold === 'number' ? threshold.toLocaleString('en-US') : `\`${threshold}\``;
  const value = `${formulaOf(metric).words}, ${statistic.toLowerCase()} ${comparison} ${bound}`;
  const over = minutes === 24 * 60 ? 'over a day' : `over ${minutes} minutes`;
  const times = periods === breaching ? `${periods} times in a row` : `${breaching} of ${periods} times`;
  const often =
    minutes > 1
      ? [over, ...(periods > 1 ? [times] : [])].join(', ')
      : periods === 1
        ? 'over a minute'
        : `in ${breaching} of ${periods} minutes`;
  return `(${value} ${often}${missing === 'breaching' ? '; missing figures count as a breach' : ''})`;
}
