import assert from "node:assert/strict";
import { test } from "node:test";
import { commitZeroMask } from "@anulo/crypto";
import { genesisBlock, networks, type Transaction } from "@anulo/protocol";
import { newTransaction } from "../src/chain/stored-transaction.ts";

test("a miner's output commits to its visible amount whatever RingCT part his transaction has", () => {
  const { prefix } = genesisBlock(networks.mainnet).minerTransaction;
  const zeros = new Uint8Array(32);
  const amount = { mask: zeros, amount: zeros };
  const bits = new Uint8Array(64 * 32);
  const odd: Transaction = {
    prefix: { ...prefix, version: 2 },
    signatures: [],
    ringct: {
      type: 1,
      fee: 0n,
      pseudoOuts: [],
      ecdhInfo: [amount],
      outputCommitments: [new Uint8Array(32).fill(7)],
      prunable: {
        rangeSigs: [{ s0: bits, s1: bits, ee: zeros, Ci: bits }],
        bulletproofs: [],
        bulletproofsPlus: [],
        clsags: [],
        mgs: [{ ss: [[zeros, zeros]], cc: zeros }],
      },
    },
  };
  const [output] = newTransaction(odd, zeros).outputs;
  assert.deepEqual(output?.commitment, commitZeroMask(prefix.outputs[0]!.amount));
  assert.equal(output?.amount, 0n);
});
