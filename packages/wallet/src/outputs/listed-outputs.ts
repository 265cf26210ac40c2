/** Some of a wallet's outputs as they were at one moment: packed, some 120 bytes each, and read when they are needed. */
import { Column } from "../packed/column.ts";
import { RecordReader, RecordWriter } from "../packed/record-bytes.ts";
import { offsetOf, Records, Selected } from "../packed/records.ts";
import type { OutputBook } from "./output-book.ts";
import type { OutputState } from "./output-states.ts";
import type { OwnedOutput } from "./owned-output.ts";
import { createMoveCheck } from "./walk.ts";

/** What is shown of an output. */
export type ListedOutput = Pick<
  OwnedOutput,
  | "amount"
  | "height"
  | "unlockTime"
  | "frozen"
  | "globalIndex"
  | "oneTimeKey"
  | "keyImage"
  | "subaddress"
  | "txHash"
  | "txSize"
> & { readonly isSpent: boolean };

export type OutputFilter = {
  readonly account: number;
  /** Addresses of the account; empty: all of them. */
  readonly minors: ReadonlySet<number>;
  /** Undefined: both. */
  readonly isSpent: boolean | undefined;
};

const KEY_BYTES = 32;
const FLAGS = { frozen: 1, spent: 2, keyImage: 4 } as const;

function writeListed(
  out: RecordWriter,
  output: OwnedOutput,
  { frozen, isSpent, hasKeyImage }: OutputState,
): void {
  const { subaddress } = output;
  const keyImage = hasKeyImage ? output.keyImage : undefined;
  const imageFlag = keyImage === undefined ? 0 : FLAGS.keyImage;
  out.byte((frozen ? FLAGS.frozen : 0) | (isSpent ? FLAGS.spent : 0) | imageFlag);
  out.bytes(output.txHash);
  out.bytes(output.oneTimeKey);
  if (keyImage !== undefined) out.bytes(keyImage);
  for (const number of [subaddress.major, subaddress.minor, output.height, output.txSize]) out.number(number);
  for (const amount of [output.amount, output.unlockTime, output.globalIndex]) out.amount(amount);
}

function readListed(chunk: Uint8Array, at: number): ListedOutput {
  const record = new RecordReader(chunk, at);
  const flags = record.byte();
  return {
    frozen: (flags & FLAGS.frozen) !== 0,
    isSpent: (flags & FLAGS.spent) !== 0,
    txHash: record.bytes(KEY_BYTES),
    oneTimeKey: record.bytes(KEY_BYTES),
    keyImage: (flags & FLAGS.keyImage) === 0 ? undefined : record.bytes(KEY_BYTES),
    subaddress: { major: record.number(), minor: record.number() },
    height: record.number(),
    txSize: record.number(),
    amount: record.amount(),
    unlockTime: record.amount(),
    globalIndex: record.amount(),
  };
}

/**
 * The outputs that match, in order, as they are at the first step, whatever changes later; pauses between places. Throws
 * `OutputsMoved`.
 */
export function* listOutputs(
  outputs: OutputBook,
  { account, minors, isSpent }: OutputFilter,
): Generator<void, Selected<ListedOutput>> {
  const checkMoved = createMoveCheck(outputs);
  const { count } = outputs;
  const states = outputs.states();
  const records = new Records();
  const addresses = new Column();
  const writer = new RecordWriter();
  for (let place = 0; place < count; place++) {
    yield;
    checkMoved();
    if (outputs.majorOf(place) !== account || (minors.size > 0 && !minors.has(outputs.minorOf(place))))
      continue;
    const state = states.at(place);
    if (isSpent !== undefined && state.isSpent !== isSpent) continue;
    writeListed(writer.begin(), outputs.at(place)!, state);
    addresses.push(records.add(writer.record));
  }
  return new Selected(addresses.length, (index) => {
    const address = addresses.at(index);
    return readListed(records.chunkOf(address), offsetOf(address));
  });
}
