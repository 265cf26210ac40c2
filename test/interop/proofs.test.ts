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
  otherSide,
  type Side,
  type Stage,
  type WalletActor,
} from "../actors.ts";
import { checkProof, verdictOf } from "./proof-checks.ts";
import { words } from "./words.ts";

const sides = ["ours", "real"] as const satisfies Side[];

type Payment = {
  readonly kind: string;
  readonly txid: string;
  /** Addresses of Bob that were paid. */
  readonly payees: readonly string[];
  /** The transaction has a key for each output. */
  readonly hasAdditionalKeys?: boolean;
};
type Cast = Record<Side, { readonly alice: WalletActor; readonly bob: WalletActor }>;
/** Bob's primary address, two others, and an integrated one. */
type Places = { readonly plain: readonly [string, string, string]; readonly integrated: string };

/** Alice pays Bob in every way that changes how a transaction's keys are made; with one program, then the other. */
async function alicePays(alice: WalletActor, { plain, integrated }: Places): Promise<Payment[]> {
  const [primary, first, second] = plain;
  const pay = (addresses: readonly string[], more?: ExactObject) =>
    alice.pay(
      addresses.map((address, at) => ({ address, amount: coin + BigInt(at) })),
      more,
    );
  const several: readonly [string, string[], string[], ExactObject?][] = [
    ["to a standard address", [primary], [primary]],
    ["to a subaddress", [first], [first]],
    ["to an integrated address", [integrated], [integrated, primary]],
    ["to a standard address, and back", [primary, alice.address], [primary]],
    ["to a standard address and subaddresses", plain.slice(), plain.slice(0, 2)],
    ["to two subaddresses", [first, second], [first, second]],
    ["from another account", [first], [first], { account_index: 1 }],
  ];
  const payments: Payment[] = [];
  for (const [kind, addresses, payees, more] of several) {
    const hasAdditionalKeys = addresses.length > 1 && addresses.includes(first);
    payments.push({ kind, payees, hasAdditionalKeys, txid: await pay(addresses, more) });
  }
  const { transfers } = await alice.call("incoming_transfers", { transfer_type: "available" });
  const key_image = String(listOf(transfers).find(({ unlocked, spent }) => unlocked && !spent)!.key_image);
  const single = await alice.call("sweep_single", { address: second, key_image });
  payments.push({ kind: "one output swept", txid: String(single.tx_hash), payees: [second] });
  const swept = await alice.call("sweep_all", { address: primary, account_index: 2 });
  const [txid] = listOf(swept.tx_hash_list).map(String);
  payments.push({ kind: "an account swept", txid: txid!, payees: [primary] });
  return payments;
}

function everybody(cast: Cast): WalletActor[] {
  return sides.flatMap((side) => [cast[side].alice, cast[side].bob]);
}

const changeDigit = (_: string, digit: string, rest: string) => (digit === "0" ? "1" : "0") + rest;

/** The secret keys show the same to both, and to whom nothing was paid they show nothing. */
async function checkKeys(
  cast: Cast,
  { prover, stranger }: { prover: WalletActor; stranger: string },
  { txid, payees, kind }: Payment,
): Promise<void> {
  const checkers = [cast.ours.bob, cast.real.bob];
  const tx_key = String((await prover.call("get_tx_key", { txid })).tx_key);
  const ask = (params: ExactObject) =>
    Promise.all(checkers.map((each) => verdictOf(each, "check_tx_key", { txid, tx_key, ...params })));
  for (const address of payees) {
    const [own, original] = await ask({ address });
    assert.deepEqual(own, original, kind);
    assert.ok(bigintOf(own!.received) >= coin, kind);
  }
  const [address] = payees as [string];
  const changed: [string, ExactObject][] = [
    ["another key", { address, tx_key: "01".repeat(tx_key.length / 2) }],
    ["a digit of each changed", { address, tx_key: tx_key.replace(/(.)(.{63})/g, changeDigit) }],
    ["a digit less", { address, tx_key: tx_key.slice(1) }],
    ["another address", { address: stranger }],
  ];
  for (const [name, params] of changed)
    for (const { received = 0 } of await ask(params))
      assert.equal(bigintOf(received), 0n, `${kind}, ${name}`);
}

/** Proofs of one payment: the sender's and the receiver's, with a message and without. */
async function checkPayment(cast: Cast, side: Side, payment: Payment, other: Payment): Promise<number> {
  const checkers = [cast.ours.bob, cast.real.bob];
  const { txid, payees, kind, hasAdditionalKeys } = payment;
  let refused = 0;
  for (const prover of [cast[side].alice, cast[side].bob]) {
    for (const message of ["m", ""]) {
      const [address] = payees as [string];
      const params = { txid, address, message };
      const { signature } = await prover.call("get_tx_proof", params);
      const proof = { method: "check_tx_proof", params, signature: String(signature) };
      const otherQuestions = {
        [`${kind}: another message`]: { message: "other" },
        [`${kind}: another transaction`]: { txid: other.txid },
        [`${kind}: an address that was not paid`]: { address: cast.real.alice.address },
      };
      refused += await checkProof(checkers, {
        ...proof,
        otherQuestions,
        hasSpareParts: hasAdditionalKeys === true,
      });
    }
    for (const address of payees.slice(1)) {
      const params = { txid, address, message: "" };
      const { signature } = await prover.call("get_tx_proof", params);
      for (const wallet of checkers) {
        const { good } = await wallet.call("check_tx_proof", { ...params, signature: signature! });
        assert.equal(good, true, kind);
      }
    }
  }
  return refused;
}

async function prepare(stage: Stage) {
  const daemon = await stage.daemon("ours", "upstream");
  const open = (side: Side, name: "alice" | "bob") =>
    stage.wallet(side, { mnemonic: words[name], daemonPort: daemon.port });
  const pair = async (side: Side) => ({ alice: await open(side, "alice"), bob: await open(side, "bob") });
  const cast: Cast = { ours: await pair("ours"), real: await pair("real") };
  const more = { account_index: 0, count: 3 };
  await cast[otherSide.ours].bob.call("create_address", more);
  const { addresses } = await cast.ours.bob.call("create_address", more);
  const [first, second, stranger] = listOf(addresses).map(String) as [string, string, string];
  const { integrated_address } = await cast.ours.bob.call("make_integrated_address", {
    payment_id: "0123456789abcdef",
  });
  const accounts: string[] = [];
  for (const side of sides)
    for (let account = 1; account <= 2; account++) {
      const { address } = await cast[side].alice.call("create_account");
      accounts.push(String(address));
    }
  const places: Places = {
    plain: [cast.ours.bob.address, first, second],
    integrated: String(integrated_address),
  };
  await mine(daemon, 100, cast.ours.alice.address);
  return { daemon, cast, places, stranger, accounts: accounts.slice(0, 2) };
}

test(
  "every proof of a payment that one program makes is taken by both, and its mutations are refused by both",
  needsRealPrograms,
  async (t) => {
    await onStage(async (stage) => {
      const { daemon, cast, places, stranger, accounts } = await prepare(stage);
      for (const side of sides) {
        const { alice } = cast[side];
        await alice.refresh();
        await alice.pay(accounts.map((address) => ({ address, amount: 3n * coin })));
        await mine(daemon, 12, cast.ours.alice.address);
        await alice.refresh();
        const made = await alicePays(alice, places);
        await mine(daemon, 12, cast.ours.alice.address);
        for (const wallet of everybody(cast)) await wallet.refresh();
        let refused = 0;
        for (const [i, payment] of made.entries()) {
          await checkKeys(cast, { prover: alice, stranger }, payment);
          refused += await checkPayment(cast, side, payment, made[(i + 1) % made.length]!);
        }
        t.diagnostic(`${side}: ${made.length} kinds of payments proven, ${refused} mutations refused`);
      }
    });
  },
);
