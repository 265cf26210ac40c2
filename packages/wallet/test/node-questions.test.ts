/** What a payment asks of a node, to the letter: any other question tells whose it is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Daemon } from "../src/daemon.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { feeRateOf, isKnownTo, isUnmixable, outputSourceOf } from "../src/transfer/node.ts";
import { KeptOutputCounts } from "../src/transfer/output-counts.ts";

/** A node that gives each call an answer, and what it was asked. */
function nodeWith(answers: { readonly [call: string]: object }, isTrusted = false) {
  const asked: (readonly [string, unknown])[] = [];
  const answer = (name: string) => async (question: unknown) => {
    asked.push([name, question]);
    await setImmediate();
    return { status: "OK", ...answers[name] };
  };
  const client = Object.fromEntries(Object.keys(answers).map((name) => [name, answer(name)]));
  const daemon = { client, isTrusted } as unknown as Daemon;
  const source = outputSourceOf(
    { daemon, outputCounts: new KeptOutputCounts(), clock: () => 2_000_000.7 },
    3,
  );
  return { daemon, source, asked };
}

const distribution = (...amounts: bigint[]) => ({
  distributions: amounts.map((amount) => ({ amount, start_height: 0, base: 0, distribution: [1, 0, 2] })),
});

test("numbers of outputs of hidden amounts are asked for once, in the shortest form", async () => {
  const { source, asked } = nodeWith({ getOutputDistributionBin: distribution(0n) });
  const [first, second] = await Promise.all([source.hiddenCounts(), source.hiddenCounts()]);
  assert.deepEqual(first.cumulative, [1, 1, 3]);
  assert.equal(first, second);
  const question = { amounts: [0n], from_height: 0, binary: true, compress: true };
  assert.deepEqual(asked, [["getOutputDistributionBin", question]]);
});

test("numbers of outputs of other amounts, or of several, are none", async () => {
  for (const amounts of [[], [1n], [0n, 0n], [0n, 1n]]) {
    const { source } = nodeWith({ getOutputDistributionBin: distribution(...amounts) });
    await assert.rejects(source.hiddenCounts(), /^WalletRefusal: Could not obtain output distribution\.$/);
  }
});

test("of visible amounts a node tells how many outputs are unlocked, and how many of them are recent", async () => {
  const histogram = [{ amount: 5n, unlocked_instances: 9, recent_instances: 2, total_instances: 11 }];
  const { source, asked } = nodeWith({ getOutputHistogram: { histogram } });
  assert.deepEqual(await source.visibleCounts([5n, 6n]), new Map([[5n, { unlocked: 9, recent: 2 }]]));
  // A little less than two days before.
  const recent_cutoff = 2_000_000 - 155_520;
  assert.deepEqual(asked, [["getOutputHistogram", { amounts: [5n, 6n], unlocked: true, recent_cutoff }]]);
});

test("outputs are asked for by amount and index, without their transactions", async () => {
  const [key, mask] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const outs = [{ key, mask, unlocked: true, height: 7 }];
  const { source, asked } = nodeWith({ getOutsBin: { outs } });
  const told = await source.outputs([{ amount: 0n, globalIndex: 12 }]);
  assert.deepEqual(told, [{ key, commitment: mask, unlocked: true }]);
  const question = { outputs: [{ amount: 0n, index: 12n }], get_txid: false };
  assert.deepEqual(asked, [["getOutsBin", question]]);
});

test("only a trusted node is told of which amounts a wallet has outputs", async () => {
  for (const isTrusted of [true, false]) {
    const { daemon, asked } = nodeWith({ getOutputHistogram: { histogram: [{ amount: 7n }] } }, isTrusted);
    const isAlone = await isUnmixable(daemon, [9n, 7n, 9n, 30n]);
    const amounts = isTrusted ? [7n, 9n, 30n] : [];
    assert.deepEqual(asked, [["getOutputHistogram", { amounts, min_count: 16, unlocked: true }]]);
    assert.deepEqual([7n, 9n].map(isAlone), [false, true]);
  }
});

test("a node knows a transaction if it tells of that one", async () => {
  for (const [ids, isKnown] of [
    [[], false],
    [["bb"], false],
    [["bb", "aa"], true],
  ] as const) {
    const txs = ids.map((tx_hash) => ({ tx_hash }));
    const { daemon, asked } = nodeWith({ getTransactions: { txs } });
    assert.equal(await isKnownTo(daemon, "aa"), isKnown);
    assert.deepEqual(asked, [["getTransactions", { txs_hashes: ["aa"], prune: true }]]);
  }
});

test("a payment whose node is away fails as if it had asked for the height, and by any other error as it is", async () => {
  const failing = (error: Error) => {
    const client = { getFeeEstimate: () => Promise.reject(error) };
    return feeRateOf({ client } as unknown as Daemon, 1, { lastBlockReward: 0n, height: 0 });
  };
  const away = new WalletRefusal("NO_DAEMON_CONNECTION", "no connection to daemon");
  await assert.rejects(failing(away), { kind: "GENERIC_TRANSFER_ERROR", message: "Failed to get height" });
  const busy = new WalletRefusal("DAEMON_IS_BUSY", "busy");
  await assert.rejects(failing(busy), busy);
  const fault = Object.assign(new TypeError("a fault"), { kind: "NO_DAEMON_CONNECTION" });
  await assert.rejects(failing(fault), fault);
});
