/** The market stream in the model of the platform: a busy market, the listener, and a log whose units are counted. */

import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { packBatch } from '../../functions/aws/dynamo-streamed-log.ts';
import { createMemoryStreamedLog, type StreamedLog } from '../../lib/cache/snapshots/index.ts';
import { nameOf } from '../snapshots/world/load.ts';
import { storeLatency } from '../snapshots/world/platform.ts';
import type { createSystem } from '../snapshots/world/study.ts';
import { recordOf } from '../snapshots/world/upstream.ts';
import type { VirtualTime } from '../world/virtual-time.ts';
import { createListening, ModelBroker, type Told } from './world.ts';

type System = Awaited<ReturnType<typeof createSystem>>;

/** The names of a snapshot's fields, by number, as the upstream's broker sends them. */
const fields: Readonly<Record<number, string>> = {
  2: 'last_trade_time',
  3: 'price',
  4: 'open',
  5: 'high',
  6: 'low',
  7: 'pre_close',
  8: 'volume',
  9: 'change',
  10: 'change_ratio',
};

/** Each symbol changes so many times a second, with the record that a fetch would bring. */
class BusyMarket implements Told {
  readonly #time: VirtualTime;
  readonly #heard: ((symbol: string) => void)[] = [];

  constructor(time: VirtualTime, random: () => number, symbols: number, perSecond: number) {
    this.#time = time;
    for (let index = 0; index < symbols; index++) {
      const symbol = nameOf('US_STOCK', index);
      const next = () => {
        for (const hear of this.#heard) hear(symbol);
        time.after((1000 / perSecond) * (0.5 + random()), next);
      };
      time.after((1000 / perSecond) * random(), next);
    }
  }

  hear(listener: (symbol: string) => void): void {
    this.#heard.push(listener);
  }

  message(symbol: string): Uint8Array {
    const at = Math.floor(this.#time.now());
    const record = JSON.parse(recordOf(symbol, at, [])) as Readonly<Record<string, unknown>>;
    const text = (writer: BinaryWriter, field: number, value: unknown) =>
      writer.tag(field, WireType.LengthDelimited).string(String(value));
    const basic = text(text(new BinaryWriter(), 1, symbol), 3, at).finish();
    const message = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(basic);
    for (const [field, name] of Object.entries(fields)) text(message, Number(field), record[name]);
    return message.finish();
  }
}

/** Behind a network, and charged as DynamoDB does. */
function meteredLog({ time, random, units }: System, meter: ChannelMeter) {
  const log = createMemoryStreamedLog(time.now);
  const sizes = new Map<number, number>();
  const trip = async <T>(work: () => Promise<T>): Promise<T> => {
    const total = storeLatency(random);
    await time.sleep(total / 2);
    const answer = await work();
    await time.sleep(total / 2);
    return answer;
  };
  return (): StreamedLog => ({
    read: (after) =>
      trip(async () => {
        const batches = await log.read(after);
        const bytes = batches.reduce((sum, { sequence }) => sum + (sizes.get(sequence) ?? 0), 0);
        const read = Math.max(1, Math.ceil(bytes / 4096)) / 2;
        units.charge('stream', { read });
        return batches;
      }),
    write: (batch) =>
      trip(async () => {
        const bytes = packBatch(batch).length + 60;
        units.charge('stream', { write: Math.ceil(bytes / 1024) });
        sizes.set(batch.sequence, bytes);
        meter.batches++;
        meter.bytes += bytes;
        return log.write(batch);
      }),
    last: () => trip(() => log.last()),
  });
}

export interface ChannelMeter {
  batches: number;
  bytes: number;
}

/** A listener of so many symbols at most, and the log that instances read. */
export function createChannel(
  system: System,
  { symbols, carried, perSecond }: { symbols: number; carried: number; perSecond: number },
) {
  const { time, random, store } = system;
  const meter: ChannelMeter = { batches: 0, bytes: 0 };
  const connect = meteredLog(system, meter);
  const broker = new ModelBroker(time, new BusyMarket(time, random, symbols, perSecond));
  const log = connect();
  const listening = createListening(time, broker, { log, store: store.connect(), sessions: carried / 100 });
  listening.begin();
  let now: ReadonlySet<string> = new Set();
  const look = async () => {
    const [whole] = await log.read();
    now = new Set(whole?.carried?.flatMap((one) => one.symbols));
    time.after(5000, look);
  };
  time.after(5000, look);
  return {
    connect,
    broker,
    meter,
    reports: listening.reports,
    isCarried: (symbol: string) => now.has(symbol),
  };
}
