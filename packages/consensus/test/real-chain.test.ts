import assert from "node:assert/strict";
import { test } from "node:test";
import { blockId, toHex } from "@anulo/protocol";
import { chainContext, discharge, type Obligation, verifyBlock } from "../src/index.ts";
import { createMemoryChain } from "./memory-chain.ts";
import { readRegtestChain } from "./regtest-chain.ts";

test("500 blocks of the real program verify one upon another, with the real program's figures", () => {
  const chain = createMemoryChain({ fixedDifficulty: 1n });
  const obligations: Obligation[] = [];
  const recorded = readRegtestChain();
  assert.equal(recorded.length, 500);
  for (const { block, transactions, ...expected } of recorded) {
    const verified = verifyBlock({ block, transactions }, chainContext(chain.view(), block.header.timestamp));
    const { weight, longTermWeight, cumulativeDifficulty, fees, reward } = verified;
    const found = { id: toHex(blockId(block)), weight, longTermWeight, claimed: reward + fees, fees };
    assert.deepEqual({ ...found, cumulativeDifficulty }, expected);
    chain.append(block, transactions, verified);
    obligations.push(...verified.obligations);
  }
  const kinds = (kind: string) => obligations.filter((obligation) => obligation.kind === kind).length;
  assert.deepEqual(
    {
      clsag: kinds("clsag"),
      rangeProof: kinds("rangeProof"),
      balance: kinds("balance"),
      pow: kinds("powHash"),
    },
    { clsag: 777, rangeProof: 402, balance: 402, pow: 0 },
  );
  assert.equal(discharge(obligations), undefined);
});
