import assert from "node:assert/strict";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import type { ExactObject } from "@anulo/testkit";
import {
  bigintOf,
  listOf,
  mine,
  needsRealPrograms,
  onStage,
  type Side,
  type WalletActor,
} from "../actors.ts";
import { checkProof } from "./proof-checks.ts";
import { words } from "./words.ts";

const sides = ["ours", "real"] as const satisfies Side[];

type Cast = Record<Side, WalletActor>;

/** Spends of every form: one input, several, one without change, to several; answers their ids. */
async function spend(alice: WalletActor, bob: string, own: string): Promise<string[]> {
  const one = await alice.pay([{ address: bob, amount: coin }]);
  const several = await alice.pay([{ address: bob, amount: 200n * coin }]);
  const split = await alice.pay([bob, own, bob].map((address) => ({ address, amount: coin })));
  const { tx_hash_list } = await alice.call("sweep_all", { address: bob, account_index: 1 });
  return [one, several, split, ...listOf(tx_hash_list).map(String)];
}

async function checkSpends(cast: Cast, checkers: readonly WalletActor[], txids: readonly string[]) {
  let refused = 0;
  for (const side of sides) {
    for (const [i, txid] of txids.entries()) {
      for (const message of i === 0 ? ["m", ""] : ["m"]) {
        const params = { txid, message };
        const { signature } = await cast[side].call("get_spend_proof", params);
        const proof = { method: "check_spend_proof", params, signature: String(signature) };
        const other = txids[(i + 1) % txids.length]!;
        const otherQuestions = {
          "another message": { message: "other" },
          "another transaction": { txid: other },
        };
        refused += await checkProof(checkers, { ...proof, otherQuestions });
      }
    }
  }
  return refused;
}

/** What is proven, by the question: all, whole accounts, and amounts of them. */
const questions: readonly ExactObject[] = [
  { all: true },
  { account_index: 0, amount: 2n * coin },
  { account_index: 0, amount: 300n * coin },
  { account_index: 2, amount: coin },
];

async function checkReserves(cast: Cast, checkers: readonly WalletActor[], stranger: string) {
  let refused = 0;
  for (const side of sides) {
    for (const [i, question] of questions.entries()) {
      const message = i === 1 ? "" : "m";
      const prover = cast[side];
      const { signature } = await prover.call("get_reserve_proof", { ...question, message });
      const params = { address: prover.address, message };
      const shown = await checkers[0]!.call("check_reserve_proof", { ...params, signature: signature! });
      assert.ok(bigintOf(shown.total) >= bigintOf(question.amount ?? 1n));
      const proof = { method: "check_reserve_proof", params, signature: String(signature) };
      const otherQuestions = {
        "another message": { message: "other" },
        "another address": { address: stranger },
      };
      refused += await checkProof(checkers, { ...proof, otherQuestions });
    }
  }
  return refused;
}

test(
  "proofs of spending and of funds by one program are taken by both, and their mutations are refused by both",
  needsRealPrograms,
  async (t) => {
    await onStage(async (stage) => {
      const daemon = await stage.daemon("ours", "upstream");
      const open = (side: Side, name: "alice" | "bob") =>
        stage.wallet(side, { mnemonic: words[name], daemonPort: daemon.port });
      const cast: Cast = { ours: await open("ours", "alice"), real: await open("real", "alice") };
      const checkers = [await open("ours", "bob"), await open("real", "bob")];
      const own: string[] = [];
      for (const side of sides)
        for (let account = 1; account <= 2; account++)
          own.push(String((await cast[side].call("create_account")).address));
      await mine(daemon, 100, cast.ours.address);
      await cast.ours.refresh();
      const parts = own.slice(0, 2).map((address) => ({ address, amount: 3n * coin }));
      await cast.ours.pay(parts);
      await mine(daemon, 12, cast.ours.address);
      await cast.ours.refresh();
      const txids = await spend(cast.ours, checkers[0]!.address, own[1]!);
      await mine(daemon, 12, cast.ours.address);
      for (const wallet of [cast.ours, cast.real, ...checkers]) await wallet.refresh();
      const spends = await checkSpends(cast, checkers, txids);
      const reserves = await checkReserves(cast, checkers, checkers[0]!.address);
      t.diagnostic(`mutations refused: ${spends} of spend proofs, ${reserves} of reserve proofs`);

      // What was proven and is spent since is reported as spent, by both.
      const { signature } = await cast.real.call("get_reserve_proof", { all: true, message: "" });
      await cast.ours.pay([{ address: checkers[0]!.address, amount: coin }]);
      const question = { address: cast.real.address, message: "", signature: signature! };
      const shown: ExactObject[] = [];
      for (const each of checkers) shown.push(await each.call("check_reserve_proof", question));
      assert.ok(bigintOf(shown[0]!.spent) > 0n);
      assert.deepEqual(shown[0], shown[1]);
    });
  },
);
