import assert from "node:assert/strict";
import { test } from "node:test";
import { CallFailed, type ExactObject } from "@anulo/testkit";
import {
  listOf,
  mine,
  needsRealPrograms,
  onStage,
  otherSide,
  type Side,
  type WalletActor,
} from "../actors.ts";
import { words } from "./words.ts";

const coin = 10n ** 12n;
/** As many as the longest header has. */
const HEADER_LETTERS = "ReserveProofV2".length;
const sides = ["ours", "real"] as const satisfies Side[];

/** What a wallet says of a proof; a refusal is a verdict too. */
async function verdictOf(wallet: WalletActor, method: string, params: ExactObject): Promise<ExactObject> {
  try {
    return await wallet.call(method, params);
  } catch (error) {
    if (error instanceof CallFailed) return { good: false, code: error.code };
    throw error;
  }
}

/** The proof with a letter changed, in every part of its base 58 text. (Of a header the original looks at little.) */
function mutationsOf(proof: string): string[] {
  const { length } = proof;
  const places = [length - 100, length - 60, length - 30, length - 2, length >> 1];
  return [...new Set(places)]
    .filter((at) => at >= HEADER_LETTERS)
    .map((at) => proof.slice(0, at) + (proof[at] === "2" ? "3" : "2") + proof.slice(at + 1));
}

type Proof = { readonly method: string; readonly params: ExactObject; readonly signature: string };

/** Both programs take the proof and say the same of it, and both refuse what has been changed. */
async function checkProof(checkers: readonly WalletActor[], { method, params, signature }: Proof) {
  const ask = (changed: ExactObject) =>
    Promise.all(checkers.map((wallet) => verdictOf(wallet, method, { ...params, signature, ...changed })));
  const [first, ...others] = await ask({});
  assert.equal(first!.good, true, `${method}: ${JSON.stringify(params)}`);
  for (const other of others) assert.deepEqual(other, first);
  const changes = [
    method === "verify" ? { data: "other" } : { message: "other" },
    ...mutationsOf(signature).map((changed) => ({ signature: changed })),
  ];
  for (const change of changes)
    for (const { good } of await ask(change)) assert.equal(good, false, JSON.stringify(change));
  return changes.length;
}

type Payment = { readonly txid: string; readonly payees: readonly string[] };
type Cast = Record<Side, { readonly alice: WalletActor; readonly bob: WalletActor }>;

/** Alice pays Bob in every way that changes how a transaction's keys are made; with one program, then the other. */
async function alicePays(alice: WalletActor, places: readonly string[]): Promise<Payment[]> {
  const payments: Payment[] = [];
  for (const payees of [[places[0]!], [places[1]!], [places[0]!, places[1]!, places[2]!]]) {
    const destinations = payees.map((address, at) => ({ address, amount: coin + BigInt(at) }));
    payments.push({ payees, txid: await alice.pay(destinations) });
  }
  return payments;
}

function everybody(cast: Cast): WalletActor[] {
  return sides.flatMap((side) => [cast[side].alice, cast[side].bob]);
}

async function checkPayments(cast: Cast, side: Side, payments: readonly Payment[]): Promise<number> {
  const { alice, bob } = cast[side];
  const checkers = [cast.ours.bob, cast.real.bob];
  let checked = 0;
  for (const { txid, payees } of payments) {
    const { tx_key } = await alice.call("get_tx_key", { txid });
    for (const address of payees.slice(0, 2)) {
      const shown = await Promise.all(
        checkers.map((wallet) => wallet.call("check_tx_key", { txid, tx_key: tx_key!, address })),
      );
      assert.deepEqual(shown[0], shown[1]);
      assert.ok(BigInt(shown[0]!.received as bigint) >= coin);
      for (const prover of [alice, bob]) {
        const params = { txid, address, message: "m" };
        const signature = String((await prover.call("get_tx_proof", params)).signature);
        // With several keys one good part is enough, so that a change elsewhere may do no harm.
        if (payees.length === 1)
          checked += await checkProof(checkers, { method: "check_tx_proof", params, signature });
        else
          for (const wallet of checkers) {
            const { good } = await wallet.call("check_tx_proof", { ...params, signature });
            assert.equal(good, true);
          }
      }
    }
  }
  return checked;
}

async function checkSpending(cast: Cast, payments: readonly Payment[]): Promise<number> {
  const checkers = [cast.ours.bob, cast.real.bob];
  let checked = 0;
  for (const side of sides) {
    for (const { txid } of payments) {
      const params = { txid, message: "m" };
      const { signature } = await cast[side].alice.call("get_spend_proof", params);
      const proof = { method: "check_spend_proof", params, signature: String(signature) };
      checked += await checkProof(checkers, proof);
    }
  }
  return checked;
}

async function checkReserves(cast: Cast): Promise<number> {
  const checkers = [cast.ours.alice, cast.real.alice];
  let checked = 0;
  for (const side of sides) {
    const { bob } = cast[side];
    for (const wanted of [{ all: true }, { account_index: 0, amount: 2n * coin }]) {
      const { signature } = await bob.call("get_reserve_proof", { ...wanted, message: "m" });
      const params = { address: bob.address, message: "m" };
      const proof = { method: "check_reserve_proof", params, signature: String(signature) };
      checked += await checkProof(checkers, proof);
    }
  }
  return checked;
}

async function checkMessages(cast: Cast, places: readonly string[]): Promise<number> {
  let checked = 0;
  for (const side of sides) {
    for (const [address_index, address] of places.entries()) {
      for (const signature_type of ["spend", "view"]) {
        const data = "Ünïcode, too";
        const order = { data, account_index: 0, address_index, signature_type };
        const { signature } = await cast[side].bob.call("sign", order);
        const proof = { method: "verify", params: { data, address }, signature: String(signature) };
        checked += await checkProof([cast.ours.alice, cast.real.alice], proof);
      }
    }
  }
  return checked;
}

test(
  "every proof one program makes is taken by both, and its mutations are refused by both",
  needsRealPrograms,
  async (t) => {
    await onStage(async (stage) => {
      const daemon = await stage.daemon("ours", "upstream");
      const open = (side: Side, name: "alice" | "bob") =>
        stage.wallet(side, { mnemonic: words[name], daemonPort: daemon.port });
      const pair = async (side: Side) => ({ alice: await open(side, "alice"), bob: await open(side, "bob") });
      const cast: Cast = { ours: await pair("ours"), real: await pair("real") };
      const more = { account_index: 0, count: 2 };
      await cast[otherSide.ours].bob.call("create_address", more);
      const { addresses } = await cast.ours.bob.call("create_address", more);
      const places = [cast.ours.bob.address, ...listOf(addresses).map(String)];
      await mine(daemon, 80, cast.ours.alice.address);
      const payments: Payment[] = [];
      for (const side of sides) {
        await cast[side].alice.refresh();
        const made = await alicePays(cast[side].alice, places);
        await mine(daemon, 12, cast.ours.alice.address);
        for (const wallet of everybody(cast)) await wallet.refresh();
        const changed = await checkPayments(cast, side, made);
        t.diagnostic(`${side}: payments proven, ${changed} mutations refused`);
        payments.push(...made);
      }
      const counts = [
        await checkSpending(cast, payments),
        await checkReserves(cast),
        await checkMessages(cast, places),
      ];
      t.diagnostic(`mutations of spend proofs, reserve proofs, messages refused: ${counts.join(", ")}`);
    });
  },
);
