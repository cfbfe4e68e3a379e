/** The upstream's limit: its count beside the clients' requests, and a thousand phones with and without the gateway. */

import { signal } from '@preact/signals';
import type { PhonesReport, PhoneWay } from '../local/phones.ts';
import { isLocal, send } from './gateway.ts';
import { run } from './local.ts';

const reports = signal<Readonly<Partial<Record<PhoneWay, PhonesReport>>>>({});
const isRunning = signal(false);
const status = signal('');

const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0);

async function compare(way: PhoneWay): Promise<void> {
  isRunning.value = true;
  status.value = `1,000 phones ask each 5 s for 20 symbols, for 10 s, ${way === 'gateway' ? 'through Countersign' : 'straight'} …`;
  const { value, detail } = await send<PhonesReport>({
    method: 'POST',
    path: '/_run/phones',
    body: { way, phones: 1000, seconds: 10 },
  });
  if (value) reports.value = { ...reports.value, [way]: value };
  isRunning.value = false;
  status.value = value ? '' : (detail ?? '');
}

export function Limit() {
  const window = run.value?.window;
  if (!isLocal.value || !window) return null;
  const counted = sum(window.counted);
  const asked = sum(run.value?.asked ?? []);
  return (
    <section id="limit" aria-labelledby="limit-title">
      <h2 id="limit-title">The upstream’s limit of requests</h2>
      <label class="meter">
        <span>
          <strong id="counted">{counted}</strong> of {window.requests} requests for quotes came to the
          upstream in the last {window.perSeconds} s; clients asked <strong id="asked">{asked}</strong> times
        </span>
        <meter min={0} max={window.requests} high={window.requests * 0.9} value={counted} />
      </label>
      <Bars counted={window.counted} asked={run.value?.asked ?? []} />
      <p class="row">
        <button type="button" disabled={isRunning.value} onClick={() => void compare('gateway')}>
          1,000 phones through Countersign
        </button>
        <button type="button" disabled={isRunning.value} onClick={() => void compare('straight')}>
          1,000 phones straight through
        </button>
      </p>
      <p role="status" class="quiet">
        {status.value}
      </p>
      <Comparison />
    </section>
  );
}

/** Chart of sixty seconds, the newest on the right; the clients' requests stand behind the upstream's count. */
function Bars({
  counted,
  asked,
}: {
  readonly counted: readonly number[];
  readonly asked: readonly number[];
}) {
  const most = Math.max(5, ...counted, ...asked);
  const bar = (kind: string) => (count: number, second: number) => {
    const height = (count / most) * 58;
    return (
      count > 0 && (
        <rect
          key={`${kind}${second}`}
          class={kind}
          x={second * 5}
          width={4}
          y={60 - height}
          height={height}
        />
      )
    );
  };
  return (
    <figure>
      <svg
        viewBox="0 0 300 60"
        preserveAspectRatio="none"
        role="img"
        aria-label={`Requests in each of the last 60 seconds; at most ${most} in one`}
      >
        {asked.map(bar('asked'))}
        {counted.map(bar('counted'))}
      </svg>
      <figcaption class="quiet">
        <span class="key asked" /> asked by clients, <span class="key counted" /> counted by the upstream, in
        each of the last 60 s
      </figcaption>
    </figure>
  );
}

const ways = [
  ['gateway', 'through Countersign'],
  ['straight', 'straight'],
] as const;

function Comparison() {
  const share = ({ answered, asked }: PhonesReport) =>
    `${((100 * answered) / Math.max(1, asked)).toFixed(0)} %`;
  if (!reports.value.gateway && !reports.value.straight) return null;
  return (
    <div class="scroll">
      <table id="comparison">
        <thead>
          <tr>
            <th scope="col">1,000 phones</th>
            <th scope="col" class="number">
              Asked
            </th>
            <th scope="col" class="number">
              Answered
            </th>
            <th scope="col" class="number">
              Refused
            </th>
            <th scope="col" class="number">
              At the upstream
            </th>
            <th scope="col" class="number">
              Age, p50 / p99
            </th>
          </tr>
        </thead>
        <tbody>
          {ways.map(([way, words]) => {
            const report = reports.value[way];
            return (
              report && (
                <tr key={way} data-way={way}>
                  <th scope="row">{words}</th>
                  <td class="number">{report.asked}</td>
                  <td class="number">
                    {report.answered} ({share(report)})
                  </td>
                  <td class="number">
                    {report.refused}
                    {report.refused > 0 && `: ${Object.keys(report.codes).join(', ')}`}
                  </td>
                  <td class="number">
                    {report.upstream}, {report.upstreamRefused} refused
                  </td>
                  <td class="number">{report.age ? `${report.age.p50} / ${report.age.p99} s` : '–'}</td>
                </tr>
              )
            );
          })}
        </tbody>
      </table>
      <p class="quiet">
        Straight, the phones have an upstream of their own with the same limit: so that this run’s is not used
        up for it.
      </p>
    </div>
  );
}
