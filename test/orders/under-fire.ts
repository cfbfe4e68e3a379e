/**
 * `npm run study -- orders-over-http 300`: orders through several gateways that share a journal, over HTTP at an upstream
 * whose answers are late, cut, doubled, garbage, half or 500, and that shows an order after three seconds. Clients send
 * each order several times at once, and again until they know. Connections are real, all waiting is virtual, and the
 * upstream's own book of orders is the judge.
 */

import {
  type ApiFault,
  type FaultRequest,
  type Simulator,
  startSimulator,
} from '../../infra/simulator/index.ts';
import { operations } from '../../lib/catalogue/index.ts';
import { createFetchSend, createGateway, type Gateway, type Send } from '../../lib/gateway/index.ts';
import { createMemoryControls } from '../../lib/guard-rails/index.ts';
import { createMemoryOrderJournal, createSettlement } from '../../lib/orders/index.ts';
import { createGatewayOrderReads, orderReadOperations } from '../../lib/trade-events/index.ts';
import { credentials, newOrder, orderPath, requestOf, secretText } from '../support/core.ts';
import { at } from '../support/figures.ts';
import { names } from '../support/instances.ts';
import { EventHeap } from '../world/event-heap.ts';
import { createRandom } from '../world/random.ts';

const source = { createGateway, createSettlement, createGatewayOrderReads, createMemoryOrderJournal };
/** What is studied: the source, or a bundle of it in which a rule is broken. */
export type Subject = typeof source;

const second = 1000;
const minute = 60 * second;
const startedAt = Date.UTC(2026, 10, 20, 15);
const instances = 4;
/** Orders come within so long. */
const arrivalMs = 8 * minute;
const giveUpMs = 40 * minute;
const knownWithinMs = 15 * minute;
/** In these runs of the settlement reads answer, and are wrong: no order is found, nor is one listed in the first of them. */
const wrongRuns = { all: 6, byId: 9 };
/** Between the requests of a client; then a minute each. */
const pausesMs = [1, 2, 5, 10, 20, 30].map((seconds) => seconds * second);

/** What the second delivery is told where something on the way signs anew. */
const used = '{"error_code":"OPENAPI_TRADE_PLACE_ORDER_REPEAT","message":"client_order_id was used before"}';
const instead = (status: number, body: string): ApiFault => ({ kind: 'answer-after', status, body });
/** What happens to a sent order: the upstream's fault, or what `#send` makes of it. None of `before` is taken. */
const kinds: Readonly<Record<string, { readonly after?: readonly ApiFault[]; readonly before?: ApiFault }>> =
  {
    none: {},
    refused: {},
    'answered late': {},
    'arrives late': {},
    'cut before': { before: { kind: 'drop' } },
    'cut after': { after: [{ kind: 'drop-after' }] },
    'delivered twice': { after: [{ kind: 'repeat' }, instead(417, used)] },
    garbage: { after: [instead(200, '<p>Back soon.')], before: { kind: 'not-json' } },
    'half an answer': { after: [{ kind: 'truncate' }] },
    'error 500': { after: [instead(500, '')], before: { kind: 'status', status: 500 } },
  };
const kindNames = Object.keys(kinds);
const badReads = (['drop', 'truncate', 'not-json'] as const).map((kind) => ({ kind }));

interface Order {
  readonly account: string;
  readonly id: string;
  readonly kind: string;
  readonly arrivesAt: number;
  /** No look-up by its id is answered before. */
  readonly blindUntil: number;
  /** No order of its account ever arrives: nothing can be found there. */
  readonly isAlone: boolean;
  readonly isContested: boolean;
  requests: number;
  /** The upstream's fault of each sending, by nonce. */
  readonly sendings: Map<string, ApiFault | undefined>;
  sentAt: number;
  /** Sendings that the upstream may execute. */
  effects: number;
  wrong: number;
  isUnknown: boolean;
  readonly knownAfterMs: number[];
}

export interface Fire {
  readonly orders: readonly Order[];
  /** In words. */
  readonly findings: readonly string[];
}

/** Time that stands still as long as anybody works, and else goes on to the next who wakes. */
class SharedTime {
  now = startedAt;
  #busy = 0;
  readonly #sleepers = new EventHeap();

  readonly sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const wake = () => {
        this.#busy++;
        resolve();
      };
      this.#sleepers.add(this.now + Math.max(0, Math.ceil(ms)), wake);
      this.#rest();
    });

  /** Each of them works or sleeps, one thing at a time. */
  async all(works: readonly (() => Promise<unknown>)[]): Promise<void> {
    this.#busy += works.length;
    await Promise.all(works.map((work) => work().finally(() => this.#rest())));
  }

  #rest(): void {
    const next = --this.#busy === 0 ? this.#sleepers.first : undefined;
    if (!next) return;
    this.#sleepers.removeFirst();
    this.now = Math.max(this.now, next.at);
    next.run?.();
  }
}

/** One upstream, the gateways in front of it, and their journal. */
class World {
  readonly #simulator: Simulator;
  readonly #random: () => number;
  readonly #time: SharedTime;
  readonly #journal: ReturnType<typeof createMemoryOrderJournal>;
  readonly #gateways: readonly Gateway[];
  readonly #settlement: ReturnType<typeof createSettlement>;
  readonly #orders = new Map<string, Order>();
  readonly #findings: string[] = [];
  readonly #filled = new Set<string>();
  #wrong: keyof typeof wrongRuns | undefined;

  constructor(simulator: Simulator, time: SharedTime, seed: number, subject: Subject) {
    this.#simulator = simulator;
    this.#random = createRandom(seed);
    this.#time = time;
    const { sleep } = time;
    const clock = () => time.now;
    const journal = subject.createMemoryOrderJournal();
    const controls = createMemoryControls();
    controls.set('stack', { limits: { max_open_notional: '1000000' } });
    const secrets = { read: async () => secretText() };
    const upstream = { upstreamBaseUrl: simulator.url, secrets, access: 'single-user', clock } as const;
    const orders = { journal, names, sleep, guard: { controls, journal } };
    this.#journal = journal;
    this.#gateways = Array.from({ length: instances }, () =>
      subject.createGateway({ ...upstream, operations, send: this.#send(createFetchSend()), orders }),
    );
    const gateway = subject.createGateway({
      ...upstream,
      operations: orderReadOperations,
      upstreamTimeoutMs: 600_000,
    });
    const reads = subject.createGatewayOrderReads({ gateway, clock, maxWaitMs: 0 });
    this.#settlement = subject.createSettlement({ journal, orders: reads, names, clock, sleep });
    simulator.bring((request) => this.#faultOf(request));
  }

  /** @param withOther in each account a look-up can find another order */
  async run(count: number, withOther: boolean): Promise<Fire> {
    const [first = '', last = ''] = this.#simulator.accounts.map(({ account_id }) => account_id);
    if (withOther) await this.#time.all([() => this.#bringOther(last)]);
    for (let index = 0; index < count; index++) {
      const account = index % 7 === 6 ? last : first;
      this.#draw(index, account, !withOther && account === last);
    }
    const clients = [...this.#orders.values()].flatMap((order) => this.#clientsOf(order));
    await this.#time.all([...clients, () => this.#settleUntil(this.#time.now + arrivalMs + giveUpMs)]);
    await this.#time.all([() => this.#judgeEnd()]);
    return { orders: [...this.#orders.values()], findings: this.#findings };
  }

  /** Filled at once, so that no list of open orders has it. */
  async #bringOther(account: string): Promise<void> {
    const order = { account, id: 'order-before-the-fire', kind: 'none' };
    await this.#ask(0, orderPath, bodyOf(order, '2'));
    this.#fill(account, order.id);
    await this.#time.sleep(minute);
  }

  #draw(index: number, account: string, isAlone: boolean): void {
    const random = this.#random;
    // The last to come is placed at once, and cannot be looked up for long.
    const isLast = index === 0;
    const arrivesAt = this.#time.now + (isLast ? 1 : random()) * arrivalMs;
    const blindMs = isLast ? 20 * minute : random() < 0.5 ? random() * 6 * minute : 0;
    const id = `order-under-fire-${index}`;
    this.#orders.set(id, {
      account,
      id,
      kind: isAlone ? 'cut before' : kindNames[index % kindNames.length]!,
      arrivesAt,
      blindUntil: arrivesAt + blindMs,
      isAlone,
      isContested: random() < 0.15,
      requests: 0,
      sendings: new Map(),
      sentAt: 0,
      effects: 0,
      wrong: 0,
      isUnknown: false,
      knownAfterMs: [],
    });
  }

  /** One to three with the same contents, and in some cases one with others, all within half a second. */
  #clientsOf(order: Order): readonly (() => Promise<void>)[] {
    const same = Array.from({ length: 1 + Math.floor(this.#random() * 3) }, () => '2');
    return [...same, ...(order.isContested ? ['3'] : [])].map((quantity) => {
      const offset = this.#random() * 500;
      const instance = Math.floor(this.#random() * instances);
      return async () => {
        await this.#time.sleep(order.arrivesAt + offset - this.#time.now);
        await this.#untilKnown(order, quantity, instance);
      };
    });
  }

  /** A client sends its order again, unchanged and by another instance, until an answer says what became of it. */
  async #untilKnown(order: Order, quantity: string, instance: number): Promise<void> {
    const from = this.#time.now;
    const outcome = `/trading/orders/outcome?account_id=${order.account}&client_order_id=${order.id}`;
    for (let requests = 0; this.#time.now < from + giveUpMs; requests++) {
      order.requests++;
      const answer = await this.#ask(instance + requests, orderPath, bodyOf(order, quantity));
      if (this.#isKnown(order, quantity, answer, from)) return;
      // From the last sending on: what was not placed may be sent again, and be lost again.
      order.isUnknown ||= this.#time.now - Math.max(from, order.sentAt) > knownWithinMs;
      if (order.isUnknown) return;
      this.#compareOutcome(order, quantity, await this.#ask(instance + requests, outcome));
      await this.#time.sleep((pausesMs[requests] ?? minute) * (0.75 + this.#random() / 2));
    }
  }

  /** Whether a client knows by this answer; what it says, against the book. */
  #isKnown(order: Order, quantity: string, { status, code, order_id }: Answer, from: number): boolean {
    const placed = this.#inBook(order);
    const isOwn = placed?.order.quantity === quantity;
    const tell = (what: string) => this.#tellWrong(order, `${status} ${code ?? ''} ${what}`);
    if (code === 'idempotency_conflict') {
      if (isOwn || !order.isContested) tell('of an order without other contents');
      return true;
    }
    if (status === 200) {
      if (!isOwn || placed.orderId !== order_id) tell('of an order that is not placed so');
    } else {
      // All others say that nothing was placed.
      if (code !== 'outcome_unknown' && code !== 'journal_unavailable' && isOwn) tell('of a placed order');
      if (status >= 500 || status === 429) return false;
      if (order.kind !== 'refused') tell('of an order that nobody refuses');
    }
    order.knownAfterMs.push(this.#time.now - from);
    return true;
  }

  #compareOutcome(order: Order, quantity: string, { state = 'not_recorded', order_id }: Answer): void {
    const placed = this.#inBook(order);
    const isRight = {
      accepted: placed?.orderId === order_id,
      refused: placed?.order.quantity !== quantity,
      pending: true,
      unknown: true,
      not_recorded: false,
    }[state];
    if (!isRight) this.#tellWrong(order, `outcome ${state}`);
  }

  #tellWrong(order: Order, what: string): void {
    order.wrong++;
    this.#findings.push(`told wrongly: ${order.id} (${order.kind}): ${what}`);
  }

  #inBook({ account, id }: Order) {
    return this.#simulator.orders.find((one) => one.clientOrderId === id && one.accountId === account);
  }

  #fill(account: string, id: string): void {
    this.#simulator.trading.fill(account, id);
    this.#filled.add(id);
  }

  /** Each minute, as the schedule does; some orders are filled meanwhile. */
  async #settleUntil(endAt: number): Promise<void> {
    for (let run = 1; this.#time.now < endAt; run++) {
      await this.#time.sleep(minute);
      this.#wrong = run === wrongRuns.all ? 'all' : run === wrongRuns.byId ? 'byId' : undefined;
      await this.#settlement.run(this.#time.now + minute);
      this.#wrong = undefined;
      const { counted, open } = await this.#counted();
      if (counted < open) this.#findings.push(`counter: minute ${run}: ${counted} of ${open}`);
      for (const { accountId, clientOrderId: id } of this.#simulator.orders)
        if (!this.#filled.has(id) && this.#random() < 0.03) this.#fill(accountId, id);
    }
  }

  async #counted(): Promise<{ readonly counted: number; readonly open: number }> {
    const [stored] = await this.#journal.counters(['counter stack']);
    const { open: counted } = JSON.parse(stored?.state ?? '{"open":"0"}') as { readonly open: string };
    const live = this.#simulator.orders.filter(({ clientOrderId }) => !this.#filled.has(clientOrderId));
    return {
      counted: Number(counted),
      open: live.reduce((sum, { order }) => sum + Number(order.quantity), 0),
    };
  }

  async #judgeEnd(): Promise<void> {
    for (const { id, kind, effects, isAlone, isUnknown } of this.#orders.values()) {
      if (effects > 1) this.#findings.push(`sent twice: ${id} (${kind}): ${effects} times`);
      if (isUnknown !== isAlone) this.#findings.push(`unknown: ${id} (${kind}): ${isUnknown}`);
    }
    this.#simulator.bring();
    // What is alone is counted apart, and free a day later.
    const alone = [...this.#orders.values()].filter(({ isAlone }) => isAlone).length;
    for (const [waitMs, expected] of [
      [minute, alone],
      [24 * 60 * minute, 0],
    ] as const) {
      await this.#time.sleep(waitMs);
      const { left, apart } = await this.#settlement.run(this.#time.now + minute);
      if (left !== 0 || apart !== expected)
        this.#findings.push(`unknown: in the end ${left}, apart ${apart}`);
    }
    await this.#settlement.run(this.#time.now + minute);
    const { counted, open } = await this.#counted();
    if (counted !== open) this.#findings.push(`counter: in the end ${counted} of ${open}`);
  }

  async #ask(instance: number, target: string, body?: string): Promise<Answer> {
    const request = requestOf(target, body === undefined ? {} : { body });
    const deadline = this.#time.now + 29 * second;
    const response = await this.#gateways[instance % instances]!.handle({ ...request, deadline });
    return { ...(JSON.parse(new TextDecoder().decode(response.body)) as Answer), status: response.status };
  }

  /** Latency and the limit of time are those of the virtual clock. */
  #send(overHttp: Send): Send {
    return async (request, { timeoutMs, maxBytes, letGo }) => {
      let hasLeft = letGo === undefined;
      await letGo?.(() => {
        hasLeft = true;
      });
      if (!hasLeft) return { kind: 'not_sent' };
      const { sleep } = this.#time;
      const kind = this.#drawSending(request.body, request.headers['x-signature-nonce'] ?? '');
      const go = () => overHttp(request, { timeoutMs: 600_000, maxBytes });
      const onTheWayMs = (30 + this.#random() * 210) * second;
      if (kind === 'arrives late') void this.#time.all([() => sleep(onTheWayMs).then(go)]);
      const result = kind === 'arrives late' ? undefined : await go();
      const isLate = !result || kind === 'answered late';
      await sleep(isLate ? timeoutMs : 20 + this.#random() * 80);
      return isLate ? { kind: 'timeout' } : result;
    };
  }

  /** When an order leaves: its own kind the first time, mostly none later. */
  #drawSending(body: string | undefined, nonce: string): string | undefined {
    const order = this.#orderIn(body ?? '');
    if (!order) return undefined;
    const { sendings, isAlone } = order;
    const isOwn = sendings.size === 0 || isAlone || order.kind === 'refused';
    const other =
      this.#random() < 0.7 ? 'none' : kindNames[2 + Math.floor(this.#random() * (kindNames.length - 2))]!;
    const kind = isOwn ? order.kind : other;
    const { after = [], before } = kinds[kind]!;
    const isBefore = before !== undefined && (after.length === 0 || this.#random() < 0.5);
    sendings.set(nonce, isBefore ? before : after[Math.floor(this.#random() * after.length)]);
    if (!isBefore && kind !== 'refused') order.effects++;
    order.sentAt = this.#time.now;
    return kind;
  }

  #orderIn(body: string): Order | undefined {
    return this.#orders.get(/"client_order_id":"([^"]+)"/.exec(body)?.[1] ?? '');
  }

  #faultOf({ method, path, query, headers, body }: FaultRequest): ApiFault | undefined {
    if (method === 'POST') return this.#orderIn(body)?.sendings.get(headers['x-signature-nonce'] ?? '');
    const order = this.#orders.get(new URLSearchParams(query).get('client_order_id') ?? '');
    const isById = path.endsWith('/orders/get');
    const notFound = { error_code: 'OPENAPI_ORDER_NOT_FOUND' };
    if (this.#wrong && isById) return { kind: 'status', status: 417, body: notFound };
    if (this.#wrong === 'all') return { kind: 'status', status: 200, body: {} };
    const isBad = isById ? order && this.#time.now < order.blindUntil : this.#random() < 0.04;
    return isBad ? badReads[Math.floor(this.#random() * badReads.length)] : undefined;
  }
}

interface Answer {
  readonly status: number;
  readonly code?: string;
  readonly order_id?: string;
  readonly state?: 'accepted' | 'refused' | 'pending' | 'unknown' | 'not_recorded';
}

function bodyOf({ account, id, kind }: Pick<Order, 'account' | 'id' | 'kind'>, quantity: string): string {
  const symbol = kind === 'refused' ? 'NOSUCH' : 'AAPL';
  const terms = { client_order_id: id, symbol, order_type: 'LIMIT', limit_price: '1.00', quantity };
  return JSON.stringify({ account_id: account, new_orders: [newOrder(terms)] });
}

/** Sixty orders at most meet in one world; in every second world, one account has no order that could be found. */
export async function ordersUnderFire(count: number, subject = source): Promise<Fire> {
  const worlds = Math.max(2, Math.ceil(count / 60));
  const [orders, findings]: [Order[], string[]] = [[], []];
  const { random } = Math;
  // Pauses of the code are drawn, too: with a seed, a run is the same on every machine.
  Math.random = createRandom(count);
  try {
    for (let index = 0; index < worlds; index++) {
      const fire = await oneWorld(Math.floor((count + index) / worlds), index, subject);
      orders.push(...fire.orders);
      findings.push(...fire.findings);
    }
  } finally {
    Math.random = random;
  }
  return { orders, findings };
}

async function oneWorld(size: number, index: number, subject: Subject): Promise<Fire> {
  const time = new SharedTime();
  const clock = () => time.now;
  const simulator = await startSimulator({ ...credentials, clock, showAfterMs: 3 * second });
  const world = new World(simulator, time, index + 1, subject);
  return world.run(size, index % 2 === 1).finally(() => simulator.close());
}

export async function studyOrdersOverHttp([count = '300']: readonly string[]): Promise<boolean> {
  const { orders, findings } = await ordersUnderFire(Number(count));
  const [alone, others] = [true, false].map((is) => orders.filter(({ isAlone }) => isAlone === is));
  console.log(
    '| Fault | Orders | Requests | Sent twice | Told wrongly | Unknown after 15 min | Known p50 | p99 |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  const ofKind = (kind: string) => others!.filter((order) => order.kind === kind);
  for (const kind of kindNames) print(kind, ofKind(kind));
  print('all of these', others!);
  print('cut before, no other order in the account', alone!);
  for (const finding of findings) console.log(finding);
  return findings.length === 0;
}

function print(name: string, orders: readonly Order[]): void {
  const sum = (of: (order: Order) => number) => orders.reduce((total, order) => total + of(order), 0);
  const known = orders.flatMap(({ knownAfterMs }) => knownAfterMs);
  const seconds = [0.5, 0.99].map((share) =>
    known.length > 0 ? `${(at(known, share) / second).toFixed(1)} s` : '–',
  );
  const counts = [
    sum((order) => order.requests),
    sum(({ effects }) => Number(effects > 1)),
    sum((order) => order.wrong),
    sum(({ isUnknown }) => Number(isUnknown)),
  ];
  console.log(`| ${[name, orders.length, ...counts, ...seconds].join(' | ')} |`);
}
