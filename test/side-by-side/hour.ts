/**
 * `npm run study -- side-by-side`: an hour of an upgrade, and back. Instances of an earlier commit and of today share tables, a
 * limit and an upstream that loses answers. Reads and orders come to both, at shares that shift; what one version begins, the
 * other one is asked for. All waiting is virtual; the upstream's own book and its own windows are the judges.
 */

import { createNodeSend } from '../../functions/aws/node-send.ts';
import type { LogEntry } from '../../functions/log/log.ts';
import { type Simulator, startSimulator } from '../../infra/simulator/index.ts';
import { type LimitName, limits } from '../../lib/catalogue/limits.ts';
import { cancelOrder } from '../../lib/catalogue/order-cancels.ts';
import { getOrderOutcome } from '../../lib/catalogue/order-outcomes.ts';
import type { Attempt, Send } from '../../lib/gateway/index.ts';
import { platformNames } from '../compositions/scene.ts';
import { Upstream } from '../limiter/world/upstream.ts';
import { accountId, credentials, newOrder, orderPath, snapshotPath } from '../support/core.ts';
import { withoutHistory } from '../support/earlier.ts';
import { createRandom } from '../world/random.ts';
import { type Answer, type Fleet, operationAt, startFleet } from './fleet.ts';
import { PassingTime } from './passing-time.ts';
import { earlierVersion, type Version, versionOfToday } from './versions.ts';

const second = 1000;
const minute = 60 * second;

/** The part of the requests that today's functions get, in each quarter: a canary, half, nearly all, and back. */
const sharesOfToday = [0.1, 0.5, 0.9, 0.5];
/** In a minute. Together with quotes they stay below the limit, so that nothing need be refused. */
const perMinute = { quotes: 60, ticks: 150, orders: 12 };
/** In these minutes of each twenty come more reads than the limit allows; then some are refused, and say so. */
const isStorm = (at: number) => Math.floor(at / minute) % 20 === 2;
const stormTicks = 900;
const lostAnswers = 0.15;
const pausesMs = [1, 2, 5, 10, 20, 30].map((seconds) => seconds * second);
const knownWithinMs = 30 * minute;

export interface Hour {
  readonly requests: Readonly<Record<'earlier' | 'today', number>>;
  /** Of storms, by the gateway’s own limiter. */
  readonly refused: number;
  readonly orders: number;
  /** Orders whose client asked more than once, and those of which another version than the first told the outcome. */
  readonly asked: number;
  readonly crossed: number;
  readonly settled: number;
  /** The most that a true window of a limit held. */
  readonly worst: Readonly<Record<LimitName, number>>;
  /** In words, each with the kind of what is wrong first. */
  readonly findings: readonly string[];
}

type Side = 'earlier' | 'today';
const otherOf = (side: Side): Side => (side === 'earlier' ? 'today' : 'earlier');

class World {
  readonly #time: PassingTime;
  readonly #simulator: Simulator;
  readonly #fleet: Promise<Fleet>;
  readonly #random: () => number;
  readonly #begin: number;
  readonly #lastMs: number;
  readonly #symbols: readonly string[];
  readonly #windows = { 'market-data': new Upstream(), instruments: new Upstream() };
  readonly #findings = new Map<string, number>();
  readonly #requests = { earlier: 0, today: 0 };
  readonly #logged = new Map<string, LogEntry>();
  #counts = { refused: 0, orders: 0, asked: 0, crossed: 0, settled: 0 };
  #open = 0;
  readonly #sought: RegExp | undefined;
  #isFound = false;

  constructor(
    time: PassingTime,
    simulator: Simulator,
    versions: Readonly<Record<Side, Version>>,
    { lastMs, sought }: { readonly lastMs: number; readonly sought: RegExp | undefined },
  ) {
    this.#sought = sought;
    this.#time = time;
    this.#simulator = simulator;
    this.#random = createRandom(lastMs);
    this.#begin = time.now;
    this.#lastMs = lastMs;
    this.#symbols = simulator.symbols('US_STOCK');
    const log = (entry: LogEntry) => {
      if (entry.level === 'error' && entry.event !== 'request') this.#logged.set(String(entry.event), entry);
    };
    this.#fleet = startFleet(versions, { simulator, time, send: this.#send(createNodeSend()), log });
  }

  async run(): Promise<Hour> {
    await this.#fleet;
    this.#often(perMinute.quotes, () => this.#readQuotes());
    this.#often(perMinute.ticks, () => this.#readTicks());
    this.#often(stormTicks, async (at) => {
      if (isStorm(at)) await this.#readTicks(true);
    });
    this.#often(perMinute.orders, () => this.#order());
    this.#settleEachMinute();
    await this.#passUntil(this.#begin + this.#lastMs);
    for (let more = 0; this.#open > 0 && more < 45; more++) await this.#passUntil(this.#time.now + minute);
    if (this.#open > 0) this.#find(`unknown: ${this.#open} orders in the end`);
    await this.#passUntil(this.#time.now + 3 * minute);
    await this.#judgeCounters();
    for (const [event, entry] of this.#logged) this.#find(`logged: ${event} ${JSON.stringify(entry)}`);
    const worst = Object.fromEntries(
      Object.entries(this.#windows).map(([name, window]) => {
        const { perSeconds, requests } = limits[name as LimitName];
        const most = window.worstWindow(perSeconds * second);
        if (most > requests) this.#find(`limit: ${most} of ${name} in a window`);
        return [name, most];
      }),
    ) as Record<LimitName, number>;
    const findings = [...this.#findings].map(([what, times]) =>
      times > 1 ? `${what} (${times} times)` : what,
    );
    return { requests: this.#requests, ...this.#counts, worst, findings };
  }

  /** Or until what is sought is found. */
  async #passUntil(end: number): Promise<void> {
    while (this.#time.now < end && !this.#isFound)
      await this.#time.passUntil(Math.min(end, this.#time.now + second));
  }

  #find(what: string): void {
    this.#isFound ||= this.#sought?.test(what) === true;
    this.#findings.set(what, (this.#findings.get(what) ?? 0) + 1);
  }

  /** By chance, as often a minute, until the hour ends. */
  #often(times: number, run: (at: number) => Promise<void>): void {
    this.#time.after((-Math.log(1 - this.#random()) * minute) / times, () => {
      const at = this.#time.now - this.#begin;
      if (at >= this.#lastMs) return;
      void run(at).catch((error: unknown) => this.#find(`failed: ${String(error)}`));
      this.#often(times, run);
    });
  }

  #draw(): Side {
    const quarter = Math.floor((4 * (this.#time.now - this.#begin)) / this.#lastMs);
    return this.#random() < (sharesOfToday[quarter] ?? 1) ? 'today' : 'earlier';
  }

  #ask = async (side: Side, target: string, body?: object): Promise<Answer & { readonly said: Said }> => {
    this.#requests[side]++;
    const answer = await (await this.#fleet).ask(side, target, body);
    return { ...answer, said: JSON.parse(answer.text) as Said };
  };

  async #readQuotes(): Promise<void> {
    const first = Math.floor(this.#random() * 20);
    const symbols = this.#symbols.slice(first, first + 5);
    const side = this.#draw();
    const answer = await this.#ask(side, `${snapshotPath}?symbols=${symbols}&category=US_STOCK`);
    const found = (answer.said as unknown as readonly { readonly symbol: string }[]).length;
    if (answer.status !== 200 || found !== symbols.length)
      this.#find(`failed: quotes of ${side}: ${answer.status} ${answer.said.code ?? found}`);
  }

  /** @param isOfStorm more than the limit allows: some are refused */
  async #readTicks(isOfStorm = false): Promise<void> {
    const symbol = this.#symbols[Math.floor(this.#random() * 400)];
    const side = this.#draw();
    const count = 1 + Math.floor(this.#random() * 50);
    const mayBeRefused = isOfStorm || this.#isAfterStorm();
    const { status, said } = await this.#ask(
      side,
      `/market-data/stocks/ticks/list?symbol=${symbol}&category=US_STOCK&count=${count}`,
    );
    if (mayBeRefused && said.code === 'budget_used_up') this.#counts.refused++;
    else if (status !== 200) this.#find(`failed: ticks of ${side}: ${status} ${said.code}`);
  }

  /** Those who came with it wait a little longer than it lasts, and it has left nothing of the window. */
  #isAfterStorm(): boolean {
    const at = this.#time.now - this.#begin;
    return isStorm(at) || isStorm(at - minute);
  }

  /** A client sends its order again, each time to the other version, until an answer says what became of it. */
  async #order(): Promise<void> {
    const number = ++this.#counts.orders;
    const id = `side-by-side-${number}`;
    const isTooLarge = this.#random() < 0.1;
    const quantity = isTooLarge ? '51' : String(1 + Math.floor(this.#random() * 20));
    const terms = { client_order_id: id, order_type: 'LIMIT', limit_price: '1.00', quantity };
    const body = { account_id: accountId, new_orders: [newOrder(terms)] };
    const first = this.#draw();
    let side = first;
    const from = this.#time.now;
    this.#open++;
    for (let tries = 0; this.#time.now - from < knownWithinMs; tries++) {
      const { status, said } = await this.#ask(side, orderPath, body);
      if (this.#isKnown(id, isTooLarge, status, said)) {
        this.#open--;
        if (tries > 0) this.#counts.asked++;
        if (side !== first) this.#counts.crossed++;
        if (!isTooLarge) await this.#afterwards(id, said, otherOf(side));
        return;
      }
      side = otherOf(side);
      await this.#compareOutcome(id, side);
      await this.#time.sleep(pausesMs[tries] ?? minute);
    }
  }

  /** Whether the answer says what became of it; what it says, against the book. */
  #isKnown(id: string, isTooLarge: boolean, status: number, { code, order_id }: Said): boolean {
    const placed = this.#inBook(id);
    if (isTooLarge) {
      if (code !== 'order_blocked' || placed)
        this.#find(`told wrongly: ${status} ${code} of a blocked order`);
      return true;
    }
    if (status === 200) {
      if (placed?.orderId !== order_id) this.#find('told wrongly: 200 of an order that is not placed so');
      return true;
    }
    if (code !== 'outcome_unknown') this.#find(`failed: an order: ${status} ${code}`);
    return false;
  }

  async #compareOutcome(id: string, side: Side): Promise<void> {
    const target = `${getOrderOutcome.path}?account_id=${accountId}&client_order_id=${id}`;
    const { status, said } = await this.#ask(side, target);
    const placed = this.#inBook(id);
    const isRight =
      said.state === 'accepted'
        ? placed?.orderId === said.order_id
        : said.state === 'refused'
          ? !placed
          : said.state === 'unknown' || said.state === 'pending';
    if (status !== 200 || !isRight) this.#find(`told wrongly: outcome ${status} ${said.state} by ${side}`);
  }

  /** The other version knows it, too; sent again it is replayed; a third is cancelled, a third is filled. */
  async #afterwards(id: string, { order_id }: Said, side: Side): Promise<void> {
    await this.#time.sleep(this.#random() * 10 * second);
    const target = `${getOrderOutcome.path}?account_id=${accountId}&client_order_id=${id}`;
    const { said } = await this.#ask(side, target);
    if (said.state !== 'accepted' || said.order_id !== order_id)
      this.#find(`told wrongly: outcome ${said.state} of an accepted order by ${side}`);
    const chance = this.#random();
    if (chance < 0.33) this.#simulator.trading.fill(accountId, id);
    else if (chance < 0.66) {
      const body = { account_id: accountId, client_order_id: id };
      for (let tries = 0; tries < 5; tries++) {
        const cancelled = await this.#ask(side, cancelOrder.path, body);
        if (cancelled.status === 200 || /CANCELLED already/.test(cancelled.text)) return;
        if (cancelled.said.code !== 'outcome_unknown')
          this.#find(`failed: a cancel by ${side}: ${cancelled.status} ${cancelled.said.code}`);
        await this.#time.sleep(minute);
      }
    }
  }

  #inBook(id: string) {
    return this.#simulator.orders.find(({ clientOrderId }) => clientOrderId === id);
  }

  /** By the version that a schedule would start; in the last minutes today’s alone. */
  #settleEachMinute(): void {
    this.#time.after(minute, async () => {
      this.#settleEachMinute();
      const report = await (await this.#fleet).settle(this.#draw()).catch((error: unknown) => {
        this.#find(`failed: settlement: ${String(error)}`);
      });
      if (report && 'accepted' in report) this.#counts.settled += report.accepted + report.refused;
    });
  }

  /** What is open in the book is what the counter has, when nothing is unknown any more. */
  async #judgeCounters(): Promise<void> {
    const { tables } = await this.#fleet;
    const item = tables.items(platformNames.journal).find(({ pk }) => pk?.S === 'counter stack');
    const { open: counted } = JSON.parse(item?.state?.S ?? '{}') as { readonly open?: string };
    const done = new Set(
      this.#simulator.trading
        .changes()
        .filter(({ scene }) => /CANCEL_SUCCESS|FINAL_FILLED|FILLED/.test(scene))
        .map(({ clientOrderId }) => clientOrderId),
    );
    const open = this.#simulator.orders
      .filter(({ clientOrderId }) => !done.has(clientOrderId))
      .reduce((sum, { order }) => sum + Number(order.quantity), 0);
    if (Number(counted) !== open) this.#find(`counter: ${counted} of ${open} in the end`);
  }

  /** Latency is that of the virtual clock; some answers to orders are lost, on the way there or back. */
  #send(overHttp: Send): Send {
    return async (request, { maxBytes, timeoutMs, letGo }) => {
      let hasLeft = letGo === undefined;
      await letGo?.(() => {
        hasLeft = true;
      });
      if (!hasLeft) return { kind: 'not_sent' };
      await this.#time.sleep(10 + this.#random() * 190);
      const isLost = request.method === 'POST' && this.#random() < lostAnswers;
      if (isLost && this.#random() < 0.3) return this.#late(timeoutMs);
      const { limit } = operationAt(request.method, new URL(request.url).pathname) ?? {};
      if (limit) this.#windows[limit].arrive(this.#time.now);
      const result = await this.#time.working(() => overHttp(request, { maxBytes, timeoutMs: 600_000 }));
      if (result.kind === 'answer' && result.status === 429)
        this.#find('limit: the upstream refused a request');
      if (isLost) return this.#late(timeoutMs);
      await this.#time.sleep(10 + this.#random() * 190);
      return result;
    };
  }

  async #late(timeoutMs: number): Promise<Attempt> {
    await this.#time.sleep(timeoutMs);
    return { kind: 'timeout' };
  }
}

interface Said {
  readonly code?: string;
  readonly order_id?: string;
  readonly state?: string;
}

/**
 * @param minutes of load; what is unknown then is waited for
 * @param sought a finding with which it ends early
 */
export async function sideBySide(
  versions: Readonly<Record<Side, Version>>,
  minutes: number,
  sought?: RegExp,
): Promise<Hour> {
  const { random } = Math;
  const time = new PassingTime();
  // Pauses of the code are drawn, too: with a seed, a run is the same on every machine.
  Math.random = createRandom(minutes);
  const simulator = await startSimulator({ ...credentials, clock: time.clock, showAfterMs: 20 * second });
  try {
    return await new World(time, simulator, versions, { lastMs: minutes * minute, sought }).run();
  } finally {
    Math.random = random;
    time.stop();
    await simulator.close();
  }
}

export async function studySideBySide([minutes = '60']: readonly string[]): Promise<boolean> {
  const missing = withoutHistory();
  if (missing !== undefined) {
    console.log(missing);
    return true;
  }
  const versions = { earlier: await earlierVersion(), today: await versionOfToday() };
  const { findings, requests, worst, ...counts } = await sideBySide(versions, Number(minutes));
  console.log(`Requests: ${requests.earlier} to the earlier version, ${requests.today} to today’s`);
  console.log(`Refused by the limiter, in storms alone: ${counts.refused}`);
  console.log(`Most in a true window of 60 s: ${worst['market-data']} of ${limits['market-data'].requests}`);
  console.log(
    `Orders: ${counts.orders}, ${counts.asked} sent again, ${counts.crossed} answered by the other version, ${counts.settled} settled`,
  );
  const of = (kind: string) => findings.filter((one) => one.startsWith(kind)).length;
  console.log(`Failed: ${of('failed')}; limit exceeded: ${of('limit')}; told wrongly: ${of('told wrongly')}`);
  for (const finding of findings) console.log(finding);
  return findings.length === 0;
}
