import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { BadBytes, blockId, fromHex, readBlock, toHex } from "@anulo/protocol";
import {
  admitTransaction,
  chainContext,
  checkSanity,
  discharge,
  RuleViolation,
  type SendTransactionFlag,
  type Violation,
  verdictOf,
  verifyBlock,
} from "../src/index.ts";
import { createMemoryChain } from "./memory-chain.ts";
import { readRecordedLaboratory } from "./recorded-laboratory.ts";
import { candidateOf } from "./regtest-chain.ts";

const recorded = readRecordedLaboratory();
const chain = createMemoryChain({ fixedDifficulty: 1n });
const now = 1_700_000_000;
const inPool = new Set<string>();

/** The violation a node would find in these bytes; undefined where it takes or has them. */
function judgeTransaction(blob: Uint8Array): Violation | undefined {
  const candidate = candidateOf(blob);
  const view = chain.view();
  checkSanity(candidate.transaction, view.outputCount(0n));
  if (view.hasTransaction(candidate.id)) return undefined;
  const pool = { isKeyImageInPool: (keyImage: Uint8Array) => inPool.has(toHex(keyImage)) };
  const { obligations, refusal } = admitTransaction(candidate, pool, chainContext(view, now));
  return discharge(obligations)?.violation ?? refusal?.violation;
}

/** What `/send_raw_transaction` shows: its sanity check parses first. */
function flagsOf(blob: Uint8Array): readonly SendTransactionFlag[] | "accepted" {
  try {
    const violation = judgeTransaction(blob);
    return violation === undefined ? "accepted" : verdictOf[violation.code].rpcFlags;
  } catch (error) {
    if (error instanceof BadBytes) return verdictOf.SANITY.rpcFlags;
    if (error instanceof RuleViolation) return verdictOf[error.violation.code].rpcFlags;
    throw error;
  }
}

before(() => {
  const { genesis, blocks } = recorded;
  for (const { block: hex, transactions: blobs } of [{ block: genesis, transactions: [] }, ...blocks]) {
    const block = readBlock(fromHex(hex));
    const transactions = blobs.map((blob) => candidateOf(fromHex(blob)));
    const verified = verifyBlock({ block, transactions }, chainContext(chain.view(), now));
    assert.equal(discharge(verified.obligations), undefined);
    chain.append(block, transactions, verified);
  }
  for (const input of candidateOf(fromHex(recorded.poolTransaction)).transaction.prefix.inputs) {
    if (input.type === "key") inPool.add(toHex(input.keyImage));
  }
});

describe("transactions, judged as the real program judged them:", () => {
  for (const { name, blob, answer } of recorded.transactions) {
    test(`${name}: ${answer.accepted ? "accepted" : answer.flags.join(" + ") || "refused without a flag"}`, () => {
      const found = flagsOf(fromHex(blob));
      if (answer.accepted) return assert.equal(found, "accepted");
      assert.notEqual(found, "accepted");
      const ours = new Set(found);
      ours.delete("not_rct");
      assert.deepEqual([...ours].sort(), [...answer.flags].sort());
    });
  }
});

/** True when the bytes are a block that may follow the chain. */
function isNextBlock(blob: Uint8Array): boolean {
  try {
    const block = readBlock(blob);
    verifyBlock({ block, transactions: [] }, chainContext(chain.view(), now));
    return true;
  } catch (error) {
    if (error instanceof RuleViolation || error instanceof BadBytes) return false;
    throw error;
  }
}

describe("blocks, judged as the real program judged them:", () => {
  for (const { name, blob, answer } of recorded.blockCases) {
    test(`${name}: ${answer.isOnTop ? "accepted" : `refused with ${answer.code}`}`, () => {
      assert.equal(isNextBlock(fromHex(blob)), answer.isOnTop);
    });
  }

  test("the chain they are tried on ends with the same block", () => {
    assert.equal(
      toHex(chain.view().topId),
      toHex(blockId(readBlock(fromHex(recorded.blocks.at(-1)!.block)))),
    );
  });
});
