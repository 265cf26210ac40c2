/** How long a submitted block may be, and what `calc_pow` has hashed. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { weightLimits } from "@anulo/consensus";
import { NULL_HASH, readBlock, toHex, writeBlock } from "@anulo/protocol";
import { RpcError } from "@anulo/rpc";
import type { OpenChain } from "../src/chain/open-chain.ts";
import type { PowWork } from "../src/pow/work.ts";
import type { NodeContext } from "../src/rpc/context.ts";
import { miningHandlers } from "../src/rpc/mining.ts";
import { errorCodes } from "../src/rpc/refusal.ts";
import { emptyChain } from "./chain-fixture.ts";
import { idOf } from "./numbered-ids.ts";
import { recordedChain } from "./recorded-chains.ts";

let chain: OpenChain;

before(async () => {
  chain = await emptyChain();
});

after(() => chain.close());

/** A chain of old blocks, which have the smallest limit. */
const view = (height: number) => ({
  hardForkVersion: 1,
  height,
  longTermWeightMedian: 1,
  recentWeights: () => [100],
  topId: idOf(height - 1),
  blockId: idOf,
  seedSchedule: { epochBlocks: 64, lagBlocks: 4 },
});

const LIMIT = weightLimits(view(1) as never).blockLimit + 100;
const hash = new Uint8Array(32).fill(7);

/** What a call answers on such a chain, or its code of refusal; and what was hashed for it. */
async function call(name: string, request: unknown, height = 1000) {
  const hashed: PowWork[] = [];
  const { parts } = chain;
  const context = {
    parts: { ...parts, state: { ...parts.state, view: () => view(height) } },
    pow: {
      hash: () => assert.fail("what is only claimed must not be remembered"),
      async hashClaimed(work: PowWork) {
        hashed.push(work);
        return hash;
      },
    },
    dialect: "contract",
    peers: { sync: { isSynchronized: true } },
    onWork: () => {},
  } as unknown as NodeContext;
  const { handler } = miningHandlers().find((each) => each.call.name === name)!;
  try {
    return { answer: await handler!(request as never, context), hashed };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { answer: error.code, hashed };
  }
}

const textOf = (length: number) => "01".repeat(length);
const calcPow = (more: object, height?: number) =>
  call("calc_pow", { major_version: 1, height: 5, block_blob: textOf(76), seed_hash: "", ...more }, height);

test("a submitted block may be a hundred bytes longer than the limit of weight", async () => {
  const block = readBlock(recordedChain()[0]!.blob);
  const ofLength = (length: number) => {
    const withExtra = (size: number) => {
      const { prefix } = block.minerTransaction;
      const longer = { ...block.minerTransaction, prefix: { ...prefix, extra: new Uint8Array(size) } };
      return writeBlock({
        ...block,
        header: { ...block.header, previousId: idOf(77) },
        minerTransaction: longer,
      });
    };
    const size = length - (withExtra(length).length - length);
    assert.equal(withExtra(size).length, length);
    return toHex(withExtra(size));
  };
  const answers = [];
  for (const length of [LIMIT, LIMIT + 1])
    answers.push((await call("submit_block", [ofLength(length)])).answer);
  assert.deepEqual(answers, [errorCodes.blockNotAccepted, errorCodes.wrongBlockBlobSize]);
});

test("what calc_pow is given is hashed as it is, up to the same length", async () => {
  const { answer, hashed } = await calcPow({});
  assert.equal(answer, toHex(hash));
  const blob = new Uint8Array(76).fill(1);
  assert.deepEqual(hashed, [{ blob, height: 5, majorVersion: 1, seedId: undefined }]);
  assert.equal((await calcPow({ block_blob: textOf(LIMIT) })).answer, toHex(hash));
  assert.equal((await calcPow({ block_blob: textOf(LIMIT + 1) })).answer, errorCodes.wrongBlockBlobSize);
  assert.equal((await calcPow({ block_blob: "0" })).answer, errorCodes.wrongBlockBlob);
});

test("blobs of variant 1 have 43 bytes at least, others may be shorter", async () => {
  const answers = [];
  for (const [major_version, length] of [
    [7, 43],
    [7, 42],
    [1, 42],
    [8, 42],
  ] as const)
    answers.push((await calcPow({ major_version, block_blob: textOf(length) })).answer);
  assert.deepEqual(answers, [toHex(hash), errorCodes.wrongBlockBlobSize, toHex(hash), toHex(hash)]);
});

test("the seed is the one that is given, else that of the height, which a short chain may not have", async () => {
  const given = "ab".repeat(32);
  const seedAt = async (more: object, height?: number) => {
    const { answer, hashed } = await calcPow({ major_version: 12, ...more }, height);
    return hashed.length === 0 ? answer : toHex(hashed[0]!.seedId!);
  };
  assert.equal(await seedAt({ seed_hash: given }), given);
  assert.equal(await seedAt({ height: 200 }), toHex(idOf(192)));
  assert.equal(await seedAt({ height: 200 }, 193), toHex(idOf(192)));
  assert.equal(await seedAt({ height: 200 }, 192), toHex(NULL_HASH));
  for (const seed_hash of ["ab", "zz".repeat(32)])
    assert.equal(await seedAt({ seed_hash }), errorCodes.wrongParam);
});
