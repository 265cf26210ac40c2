/** Transactions and rings of a proof, as a node answers for them: rightly, wrongly, or not at all. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  prunableHash,
  toHex,
  transactionHash,
  writePrunedTransaction,
  writeTransaction,
} from "@anulo/protocol";
import type { Daemon } from "../src/daemon.ts";
import {
  checkAnswer,
  FAILED,
  fetchRings,
  fetchTransaction,
  fetchTransactions,
  type NodeAnswer,
} from "../src/proofs/transactions.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { recordedChain } from "./recorded-node.ts";

const transactions = recordedChain
  .flatMap(({ transactions: ofBlock }) => ofBlock)
  .slice(0, 3)
  .map((transaction) => {
    const whole = toHex(writeTransaction(transaction));
    const pruned = toHex(writePrunedTransaction(transaction));
    const id = transactionHash(transaction);
    return { transaction, id, whole, pruned, prunable: whole.slice(pruned.length) };
  });

function answerOf({ id, pruned, transaction }: (typeof transactions)[number]): NodeAnswer {
  return {
    as_hex: "",
    pruned_as_hex: pruned,
    prunable_as_hex: "",
    prunable_hash: toHex(prunableHash(transaction)),
    tx_hash: toHex(id),
    in_pool: false,
    confirmations: 12,
  } as NodeAnswer;
}

const refuses = (message: string | RegExp) => (error: Error) => {
  assert.ok(error instanceof WalletRefusal);
  if (typeof message === "string") assert.equal(error.message, message);
  else assert.match(error.message, message);
  return true;
};

test("a transaction is the one that was asked for, whole, in two parts, or pruned", () => {
  const [one, two] = transactions as [(typeof transactions)[0], (typeof transactions)[0]];
  const forms: readonly Partial<NodeAnswer>[] = [
    {},
    { as_hex: one.whole, pruned_as_hex: "" },
    { prunable_as_hex: one.prunable },
  ];
  for (const form of forms) {
    const found = checkAnswer({ ...answerOf(one), ...form }, one.id);
    assert.deepEqual([found.txHash, found.confirmations, found.inPool], [one.id, 12, false]);
    assert.deepEqual(found.transaction.prefix, one.transaction.prefix);
    const wrong = () => checkAnswer({ ...answerOf(one), ...form }, two.id);
    assert.throws(wrong, refuses("Failed to get the right transaction from daemon"));
  }
  const inPool = checkAnswer({ ...answerOf(one), in_pool: true }, one.id);
  assert.deepEqual([inPool.inPool, inPool.confirmations], [true, 0]);
  const { confirmations: _, ...silent } = answerOf(one);
  assert.equal(checkAnswer(silent as NodeAnswer, one.id).confirmations, 0);
  for (const damaged of [one.pruned.slice(2), "zz", `${one.pruned}00`])
    assert.throws(
      () => checkAnswer({ ...answerOf(one), pruned_as_hex: damaged }, one.id),
      (error) => error instanceof WalletRefusal,
    );
});

/** A node that knows the transactions, and what it was asked. */
function nodeWith(tamper: (txs: NodeAnswer[]) => NodeAnswer[] = (txs) => txs) {
  const asked: string[][] = [];
  const daemon = {
    async getTransactions({ txs_hashes: ids }: { readonly txs_hashes: readonly string[] }) {
      asked.push([...ids]);
      return { txs: tamper(ids.map((id) => answerOf(transactions.find((each) => toHex(each.id) === id)!))) };
    },
  } as unknown as Daemon;
  return { asked, daemon };
}

test("transactions come in the order in which they are named, each asked for once", async () => {
  const { asked, daemon } = nodeWith();
  const [a, b, c] = transactions.map(({ id }) => id) as [Uint8Array, Uint8Array, Uint8Array];
  const found = await fetchTransactions(daemon, [b, a, b, c]);
  assert.deepEqual(
    found.map(({ txHash }) => txHash),
    [b, a, b, c],
  );
  assert.deepEqual(asked, [[b, a, c].map(toHex)]);
  assert.deepEqual(await fetchTransactions(daemon, []), []);
  const { daemon: short } = nodeWith((txs) => txs.slice(1));
  await assert.rejects(fetchTransactions(short, [a, b]), refuses(FAILED));
  assert.deepEqual((await fetchTransaction(daemon, a)).txHash, a);
  await assert.rejects(fetchTransaction(short, a), refuses(FAILED));
  await assert.rejects(fetchTransaction(short, a, { absent: "none", unreachable: "away" }), refuses("none"));
});

test("of more transactions than a restricted node answers for it is asked several times", async () => {
  const { id } = transactions[0]!;
  const asked: number[] = [];
  const daemon = {
    async getTransactions({ txs_hashes }: { readonly txs_hashes: readonly string[] }) {
      asked.push(txs_hashes.length);
      throw new WalletRefusal("NO_DAEMON_CONNECTION", "no connection to daemon");
    },
  } as unknown as Daemon;
  const ids = Array.from({ length: 101 }, (_, i) => new Uint8Array(32).fill(i));
  await assert.rejects(fetchTransactions(daemon, ids), refuses(/no connection/));
  assert.deepEqual(asked, [100]);
  await assert.rejects(
    fetchTransaction(daemon, id, { absent: "none", unreachable: "away" }),
    refuses("away"),
  );
});

test("rings are as long as their inputs say, and keys are asked for a thousand at a time", async () => {
  const key = (index: bigint) => new Uint8Array(32).fill(Number(index % 251n));
  const asked: number[] = [];
  const daemonOf = (lost: number) =>
    ({
      client: {
        async getOutsBin({ outputs }: { readonly outputs: readonly { readonly index: bigint }[] }) {
          asked.push(outputs.length);
          return { status: "OK", outs: outputs.slice(lost).map(({ index }) => ({ key: key(index) })) };
        },
      },
    }) as unknown as Daemon;
  const inputs = Array.from({ length: 101 }, (_, i) => ({
    type: "key",
    amount: 0n,
    keyOffsets: [BigInt(i), ...Array(i === 0 ? 11 : 9).fill(1n)],
    keyImage: new Uint8Array(32).fill(i),
  }));
  const transaction = { prefix: { inputs } } as unknown as Parameters<typeof fetchRings>[1];
  const rings = await fetchRings(daemonOf(0), transaction);
  assert.deepEqual(asked, [1000, 12]);
  assert.deepEqual(
    rings.map(({ keys }) => keys.length),
    [12, ...Array(100).fill(10)],
  );
  for (const [i, { keyImage, keys }] of rings.entries()) {
    assert.deepEqual(keyImage, inputs[i]!.keyImage);
    assert.deepEqual(
      keys,
      keys.map((_, j) => key(BigInt(i + j))),
    );
  }
  await assert.rejects(fetchRings(daemonOf(1), transaction), refuses(/wrong amounts count/));
});
