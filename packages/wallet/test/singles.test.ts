/** Single transactions of the chain that a node tells of, to be scanned. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex, transactionHash, writePrunedTransaction, writeTransaction } from "@anulo/protocol";
import type { Daemon } from "../src/daemon.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { fetchSingles } from "../src/scan/single.ts";
import { recordedChain } from "./recorded-node.ts";

const transactions = recordedChain.flatMap(({ transactions: ofBlock }) => ofBlock).slice(0, 3);
const ids = transactions.map((transaction) => toHex(transactionHash(transaction)));

type Answer = Awaited<ReturnType<Daemon["getTransactions"]>>["txs"][number];

/** What a node tells of the transaction with an id, whole; the first is in the highest block. */
function answerOf(id: string, more: Partial<Answer> = {}): Answer {
  const place = ids.indexOf(id);
  return {
    as_hex: toHex(writeTransaction(transactions[place]!)),
    ...{ pruned_as_hex: "", prunable_as_hex: "", prunable_hash: "", tx_hash: id },
    ...{ in_pool: false, block_height: 300 - 100 * place, block_timestamp: 7 + place },
    output_indices: [BigInt(place), 9n],
    ...more,
  } as Answer;
}

function nodeOf(answers: (asked: readonly string[]) => readonly Answer[]) {
  const asked: unknown[] = [];
  const daemon = {
    async getTransactions(question: { readonly txs_hashes: readonly string[] }) {
      asked.push(question);
      return { txs: answers(question.txs_hashes) };
    },
  } as unknown as Daemon;
  return { asked, wallet: { daemon, network: "mainnet" as const } };
}

test("transactions come lowest first, with their places, and those of the pool are left out", async () => {
  const { asked, wallet } = nodeOf((named) =>
    named.map((id) => answerOf(id, id === ids[1] ? { in_pool: true } : {})),
  );
  const singles = await fetchSingles(wallet, ids);
  assert.deepEqual(
    singles.map(({ txHash, height, timestamp, globalIndices, form }) => {
      return [toHex(txHash), height, timestamp, globalIndices, form];
    }),
    [
      [ids[2], 100, 9, [2n, 9n], "whole"],
      [ids[0], 300, 7, [0n, 9n], "whole"],
    ],
  );
  assert.deepEqual(singles[1]!.blob, writeTransaction(transactions[0]!));
  assert.deepEqual(asked, [{ txs_hashes: ids, prune: true }]);
});

test("a transaction is taken in each of the forms that a node has it in", async () => {
  const [transaction, id] = [transactions[0]!, ids[0]!];
  const whole = toHex(writeTransaction(transaction));
  const pruned = toHex(writePrunedTransaction(transaction));
  const parts = { as_hex: "", pruned_as_hex: pruned, prunable_as_hex: whole.slice(pruned.length) };
  const { wallet } = nodeOf(() => [answerOf(id, parts)]);
  const [single] = await fetchSingles(wallet, [id]);
  assert.deepEqual([toHex(single!.blob), single!.form], [whole, "whole"]);
  const bare = { block_height: undefined, block_timestamp: undefined, output_indices: undefined };
  const [silent] = await fetchSingles(nodeOf(() => [answerOf(id, bare)]).wallet, [id]);
  assert.deepEqual([silent!.height, silent!.timestamp, silent!.globalIndices], [0, 0, []]);
});

test("the version of a block is that of its height", async () => {
  const versionAt = async (block_height: number) => {
    const [single] = await fetchSingles(nodeOf(() => [answerOf(ids[0]!, { block_height })]).wallet, [
      ids[0]!,
    ]);
    return single!.blockVersion;
  };
  // Source: hardforks.cpp, mainnet.
  assert.deepEqual(
    [await versionAt(1_009_826), await versionAt(1_009_827), await versionAt(3_000_000)],
    [1, 2, 16],
  );
});

test("of more transactions than a restricted node answers for it is asked several times", async () => {
  const many = Array.from({ length: 201 }, () => ids[0]!);
  const { asked, wallet } = nodeOf((named) => named.map((id) => answerOf(id)));
  assert.equal((await fetchSingles(wallet, many)).length, 201);
  assert.deepEqual(
    (asked as { txs_hashes: string[] }[]).map(({ txs_hashes }) => txs_hashes.length),
    [100, 100, 1],
  );
  assert.deepEqual(await fetchSingles(wallet, []), []);
});

test("an answer of fewer, of others, or of none is refused", async () => {
  const refused = async (answers: (asked: readonly string[]) => readonly Answer[]) =>
    assert.rejects(fetchSingles(nodeOf(answers).wallet, ids), WalletRefusal);
  await refused((named) => named.slice(1).map((id) => answerOf(id)));
  await refused((named) => [...named].reverse().map((id) => answerOf(id)));
  await refused(() => {
    throw new WalletRefusal("NO_DAEMON_CONNECTION", "no connection to daemon");
  });
});
