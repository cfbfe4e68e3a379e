/**
 * Streams of order events beside listeners that die: clients come and go on a virtual clock, and one of them wants what is
 * another's. At the end each must have had every event of its accounts that is on the bus, and nothing else.
 */

import type { Standing } from '../../lib/access/directory.ts';
import { streamOrderEvents } from '../../lib/catalogue/live.ts';
import { serverSentEvents } from '../../lib/client/server-sent.ts';
import { createCore, type Gateway } from '../../lib/gateway/core.ts';
import { type AccessOptions, accessStep } from '../../lib/gateway/who.ts';
import { orderEventsStep } from '../../lib/live/order-events.ts';
import { createMemoryTradeEventHistory, type TradeEventHistory } from '../../lib/trade-events/history.ts';
import { type ParsedTradeEvent, parseTradeEvent } from '../../lib/trade-events/index.ts';
import { claimsOf, grantsOf } from '../support/access.ts';
import { type ChaosOptions, runChaos } from '../trade-events/world/chaos.ts';
import { canaries, names, type World } from '../trade-events/world/world.ts';
import { createRandom } from '../world/random.ts';
import type { VirtualTime } from '../world/virtual-time.ts';

export interface StreamTally {
  readonly orders: number;
  /** Of the bus, each once. */
  readonly events: number;
  readonly kills: number;
  readonly connections: number;
  /** How often an event was told to a client; repetitions are those that it had already. */
  readonly told: number;
  readonly repeated: number;
  readonly missing: number;
  readonly invented: number;
  readonly foreign: number;
  /** From the upstream's time to a client that was there, in milliseconds, sorted. */
  readonly delaysMs: readonly number[];
}

const { account, other } = canaries;

/** Of a change that a stream told: when it was made. */
const changedAtIn =
  ({ upstream }: World) =>
  ({ detailType, detail }: ParsedTradeEvent): number | undefined => {
    if (detailType !== 'OrderChanged' || detail.reconciled) return undefined;
    const isSame = ({ clientOrderId, scene, filled }: (typeof upstream.changes)[number]) =>
      clientOrderId === detail.client_order_id &&
      scene === detail.scene &&
      filled === Number(detail.filled_quantity);
    const same = upstream.changes.filter(isSame);
    // Of several replacements it cannot be said which.
    return same.length === 1 ? same[0]?.at : undefined;
  };
const read = ['read'] as const;
/** Nine accounts: such a caller is told out of the events of all. */
const nine = Object.fromEntries(
  [account, ...Array.from({ length: 8 }, (_, index) => `n${index}`)].map((one) => [one, read]),
);
const users = {
  ada: { [account]: read },
  ben: { [other]: read },
  all: { '*': read },
  nine,
  /** Has an account in which nothing happens, and for some minutes one of another’s. */
  eve: { mine: read },
} as const;
type User = keyof typeof users;

/** What is appended and read takes its time, and a read may miss the last second. */
const slowHistory =
  (random: () => number) =>
  (time: VirtualTime): TradeEventHistory => {
    const memory = createMemoryTradeEventHistory(time.now);
    return {
      async append(...given) {
        await time.sleep(3 + (random() < 0.1 ? random() * 900 : random() * 10));
        await memory.append(...given);
      },
      async after(...given) {
        await time.sleep(3 + random() * 10);
        return memory.after(...given);
      },
      last: (name) => memory.last(name),
    };
  };

interface OrderStreamsOptions extends ChaosOptions {
  readonly seed: number;
  /** Called with each event that a client receives. */
  readonly onEvent?: (user: string, event: string, data: string, now: number) => void;
}

export async function runOrderStreams(options: OrderStreamsOptions): Promise<StreamTally> {
  const random = createRandom(options.seed + 7);
  const clients: Client[] = [];
  const world = await runChaos({
    ...options,
    history: slowHistory(random),
    beside: (one) => {
      clients.push(...beginClients(one, random));
      for (const client of clients) client.onEvent = options.onEvent;
    },
  });
  for (const client of clients) client.stay();
  // The last ones come back, and hear of all.
  await world.pass(25 * 60_000);
  const events = new Map(world.bus.map(({ id, detail }) => [id, JSON.parse(detail).account_id as string]));
  const tallies = clients.map((client) => client.tally(events));
  const sum = (of: (one: (typeof tallies)[number]) => number) =>
    tallies.reduce((all, one) => all + of(one), 0);
  return {
    orders: world.upstream.orders.size,
    events: events.size,
    kills: world.instances.filter(({ isDead }) => isDead).length,
    connections: sum((one) => one.connections),
    told: sum((one) => one.told),
    repeated: sum((one) => one.repeated),
    missing: sum((one) => one.missing),
    invented: sum((one) => one.invented),
    foreign: sum((one) => one.foreign),
    delaysMs: tallies.flatMap(({ delaysMs }) => delaysMs).sort((a, b) => a - b),
  };
}

function beginClients(world: World, random: () => number): readonly Client[] {
  const { time, history } = world;
  if (!history) throw new TypeError('a world that keeps no events');
  const standings = new Map<string, Standing>(
    Object.entries(users).map(([user, grants]) => [
      user,
      { kind: 'granted', user, grants: grantsOf(grants) },
    ]),
  );
  const access: AccessOptions = {
    names,
    directory: {
      standing: async ({ principal }) => {
        const user = 'subject' in principal ? principal.subject : '';
        return standings.get(user) ?? { kind: 'unknown', user };
      },
    },
  };
  const { now: clock, sleep } = time;
  const events = orderEventsStep({ history, names, clock, sleep, random });
  const gateway = createCore({
    operations: [streamOrderEvents],
    access: accessStep(access),
    events,
    upstreamBaseUrl: 'https://upstream.invalid',
    secrets: { read: () => Promise.reject(new Error('a stream reads no secret')) },
    clock,
  });
  // Another’s account is granted to one for three minutes, then all that one has is taken away for one.
  const grant = (standing: Standing) => standings.set('eve', standing);
  const more = { ...users.eve, [other]: read };
  const asBefore = standings.get('eve') as Standing;
  time.after(5 * 60_000, () => grant({ kind: 'granted', user: 'eve', grants: grantsOf(more) }));
  time.after(8 * 60_000, () => grant({ kind: 'revoked', user: 'eve' }));
  time.after(9 * 60_000, () => grant(asBefore));
  const isGranted = (user: User, accountId: string) => {
    const standing = standings.get(user);
    const has = standing?.kind === 'granted' && standing.grants.accounts;
    return has && (has.has('*') || has.has(accountId));
  };
  return (Object.keys(users) as User[]).map((user) => {
    const client = new Client(
      user,
      gateway,
      time,
      random,
      (id) => isGranted(user, id) === true,
      changedAtIn(world),
    );
    void client.begin();
    return client;
  });
}

/** Who may have had an event before it was told may have it still: reads and checks take their time. */
const graceMs = 600;

class Client {
  onEvent: OrderStreamsOptions['onEvent'];
  readonly #user: User;
  readonly #gateway: Gateway;
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #mayNow: (account: string) => boolean;
  readonly #changedAt: ReturnType<typeof changedAtIn>;
  readonly #told = new Map<string, number>();
  #lastId: string | undefined;
  #stays = false;
  #connections = 0;
  #tellings = 0;
  #foreign = 0;
  readonly #mayUntil = new Map<string, number>();
  readonly #delaysMs: number[] = [];

  constructor(
    user: User,
    gateway: Gateway,
    time: VirtualTime,
    random: () => number,
    mayNow: (account: string) => boolean,
    changedAt: ReturnType<typeof changedAtIn>,
  ) {
    this.#user = user;
    this.#gateway = gateway;
    this.#time = time;
    this.#random = random;
    this.#mayNow = mayNow;
    this.#changedAt = changedAt;
  }

  stay(): void {
    this.#stays = true;
  }

  /** Connects, is cut after a while, is away for a while. */
  async begin(): Promise<void> {
    for (;;) {
      await this.#connect(this.#stays ? 800_000 : this.#pause(40_000));
      await this.#time.sleep(this.#stays ? 1000 : this.#pause(this.#random() < 0.1 ? 300_000 : 8000));
    }
  }

  #pause = (meanMs: number) => -Math.log(1 - this.#random()) * meanMs;

  async #connect(forMs: number): Promise<void> {
    // One that wants more says any place, also one of another’s event.
    const lastId = this.#user === 'eve' && this.#random() < 0.5 ? '000000000000000-x' : this.#lastId;
    const beganAt = this.#time.now();
    const { stream } = await this.#gateway.handle({
      method: 'GET',
      path: streamOrderEvents.path,
      query: [],
      headers: lastId === undefined ? {} : { 'last-event-id': lastId },
      requestId: `r${this.#connections++}`,
      evidence: { claims: claimsOf(this.#user) },
    });
    if (!stream) return;
    const iterator = stream[Symbol.asyncIterator]();
    let isCut = false;
    this.#time.after(forMs, () => {
      isCut = true;
    });
    async function* chunks() {
      for (;;) {
        const { done, value } = await iterator.next();
        if (done || isCut) break;
        yield new TextEncoder().encode(value);
      }
      await iterator.return?.();
    }
    for await (const { id, event, data } of serverSentEvents(chunks())) {
      this.#lastId = id;
      this.onEvent?.(this.#user, event, data, this.#time.now());
      this.#look();
      if (event === 'change') this.#take(data, beganAt);
    }
  }

  /** What it may have now, it may have for a moment longer. */
  #look(): void {
    for (const one of [account, other])
      if (this.#mayNow(one)) this.#mayUntil.set(one, this.#time.now() + graceMs);
  }

  #take(data: string, beganAt: number): void {
    const event = parseTradeEvent(data);
    if (!event) throw new Error(data);
    const { event_id, account_id = '' } = event.detail;
    this.#tellings++;
    const now = this.#time.now();
    const mayUntil = this.#mayNow(account_id) ? now : (this.#mayUntil.get(account_id) ?? 0);
    if (mayUntil < now) this.#foreign++;
    if (this.#told.has(event_id)) return;
    this.#told.set(event_id, now);
    const changedAt = this.#changedAt(event);
    if (changedAt !== undefined && changedAt >= beganAt) this.#delaysMs.push(now - changedAt);
  }

  tally(events: ReadonlyMap<string, string>) {
    const own = Object.keys(users[this.#user]);
    const isOwn = (of: string) => own.includes('*') || own.includes(of);
    const wanted = [...events].filter(([, of]) => isOwn(of)).map(([id]) => id);
    return {
      connections: this.#connections,
      told: this.#tellings,
      repeated: this.#tellings - this.#told.size,
      missing: wanted.filter((id) => !this.#told.has(id)).length,
      invented: [...this.#told.keys()].filter((id) => !events.has(id)).length,
      foreign: this.#foreign,
      delaysMs: this.#delaysMs,
    };
  }
}
