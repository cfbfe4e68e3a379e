/** Encodes the market-data stream's three messages in protobuf, by field numbers alone; every member is text. */

import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { BookLevel } from '../behaviours/trades.ts';

/** Text by field number. An empty text counts as absent. */
export type MessageMembers = ReadonlyMap<number, string>;

/** First part of each message. Only the symbol is required. */
export interface Basic {
  readonly symbol: string;
  readonly instrumentId?: string;
  /** Unix time in milliseconds, in digits. */
  readonly timestamp?: string;
  readonly session?: string;
}

/** Encodes a snapshot or a tick. */
export function encodeMembers(basic: Basic, members: MessageMembers = new Map()): Uint8Array {
  const writer = withBasic(basic);
  for (const [field, text] of [...members].sort(([a], [b]) => a - b)) writeText(writer, field, text);
  return writer.finish();
}

export function encodeQuote(
  basic: Basic,
  asks: readonly BookLevel[],
  bids: readonly BookLevel[],
): Uint8Array {
  const writer = withBasic(basic);
  for (const [field, levels] of [
    [2, asks],
    [3, bids],
  ] as const)
    for (const level of levels)
      writeMessage(writer, field, () => {
        writeText(writer, 1, level.price);
        writeText(writer, 2, level.size);
        for (const { mpid, size } of level.order)
          writeMessage(writer, 3, () => {
            writeText(writer, 1, mpid);
            writeText(writer, 2, size);
          });
      });
  return writer.finish();
}

function withBasic({ symbol, instrumentId = '', timestamp = '', session = '' }: Basic): BinaryWriter {
  const writer = new BinaryWriter();
  writeMessage(writer, 1, () => {
    for (const [at, text] of [symbol, instrumentId, timestamp, session].entries())
      writeText(writer, at + 1, text);
  });
  return writer;
}

function writeText(writer: BinaryWriter, field: number, text: string): void {
  if (text !== '') writer.tag(field, WireType.LengthDelimited).string(text);
}

function writeMessage(writer: BinaryWriter, field: number, write: () => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write();
  writer.join();
}
