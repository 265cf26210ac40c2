import assert from "node:assert/strict";
import { test } from "node:test";
import { BadBytes, fromHex, readBlock, toHex, writeBlock, writeTransaction } from "@anulo/protocol";
import { CallFailed, call } from "@anulo/testkit";
import { needsRealPrograms, onStage } from "../actors.ts";
import { type ErasFixture, loadEras } from "../eras/fixture.ts";
import { seededRandom } from "../eras/forge/scalars.ts";
import { spendsScript } from "../reading/any-block.ts";

const attempts = 400;
/** The original's code for bytes that are no block. */
const noBlock = -6;
const telling = [0, 1, 2, 3, 4, 5, 6, 7, 0x0f, 0x10, 0x40, 0x7f, 0x80, 0x81, 0xfe, 0xff];

type Below = (limit: number) => number;

function createBelow(seed: string): Below {
  const random = seededRandom(seed);
  return (limit) => Buffer.from(random(32)).readUInt32LE() % limit;
}

/** Bytes with one thing wrong, more often near their beginning. */
function mutate(bytes: Buffer, below: Below): Buffer {
  const at = below(below(2) === 0 ? Math.min(bytes.length, 300) : bytes.length);
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
  const byte = Buffer.from([telling[below(telling.length)]!]);
  const from = below(bytes.length);
  switch (below(6)) {
    case 0:
    case 1:
      return Buffer.concat([head, byte, tail.subarray(1)]);
    case 2:
      return Buffer.concat([head, byte, tail]);
    case 3:
      return Buffer.concat([head, tail.subarray(1 + below(33))]);
    case 4:
      return Buffer.concat([head, bytes.subarray(from, from + below(64)), tail]);
    default:
      return bytes.subarray(0, bytes.length - below(100));
  }
}

/** Blocks beside every chain whose miner transaction is one of any era, more or less. */
function createBlocks({ blocks, specimens }: ErasFixture): () => Uint8Array {
  const below = createBelow("same reading");
  const block = readBlock(fromHex(blocks[50]!.blob));
  const whole = Buffer.from(
    writeBlock({ ...block, header: { ...block.header, previousId: new Uint8Array(32).fill(9) } }),
  );
  const miner = Buffer.from(writeTransaction(block.minerTransaction));
  const at = whole.indexOf(miner);
  const transactions = [...specimens.map(({ blob }) => blob), ...blocks.flatMap((one) => one.transactions)];
  return () => {
    let transaction: Buffer = Buffer.from(transactions[below(transactions.length)]!, "hex");
    for (let times = below(4); times > 0; times--) transaction = mutate(transaction, below);
    return Buffer.concat([whole.subarray(0, at), transaction, whole.subarray(at + miner.length)]);
  };
}

function isBlock(bytes: Uint8Array): boolean {
  try {
    return !spendsScript(readBlock(bytes).minerTransaction);
  } catch (error) {
    if (error instanceof BadBytes) return false;
    throw error;
  }
}

test("both nodes read and refuse the same bytes of all eras", needsRealPrograms, async (t) => {
  await onStage(async (stage) => {
    const { url } = await stage.daemon("real");
    const next = createBlocks(loadEras());
    const differing: string[] = [];
    let read = 0;
    for (let i = 0; i < attempts; i++) {
      const bytes = next();
      const code = await call(url, "submit_block", [toHex(bytes)]).then(
        () => 0,
        (error: unknown) => {
          if (error instanceof CallFailed) return error.code;
          throw error;
        },
      );
      if (code !== noBlock) read++;
      if ((code !== noBlock) !== isBlock(bytes)) differing.push(`${i}: code ${code}, ${toHex(bytes)}`);
    }
    t.diagnostic(`${read} of ${attempts} could be read`);
    assert.deepEqual(differing, []);
    assert.ok(read > attempts / 10 && read < attempts);
  });
});
