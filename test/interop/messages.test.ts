import assert from "node:assert/strict";
import { test } from "node:test";
import { keccak256, signMessageHash } from "@anulo/crypto";
import { encodeBase58, fromHex, parseAddress } from "@anulo/protocol";
import type { ExactObject } from "@anulo/testkit";
import { listOf, needsRealPrograms, onStage, type Side, type WalletActor } from "../actors.ts";
import { checkProof, verdictOf } from "./proof-checks.ts";
import { words } from "./words.ts";

const sides = ["ours", "real"] as const satisfies Side[];
const texts = ["a text", "Ünïcode, too", "", "x".repeat(300)];

type Cast = Record<Side, WalletActor>;

async function addresses(wallet: WalletActor): Promise<{ address: string; index: [number, number] }[]> {
  await wallet.call("create_address", { account_index: 0, count: 2 });
  await wallet.call("create_account");
  const found: { address: string; index: [number, number] }[] = [];
  for (const account_index of [0, 1]) {
    const answer = await wallet.call("get_address", { account_index });
    for (const [minor, { address }] of listOf(answer.addresses).entries())
      found.push({ address: String(address), index: [account_index, minor] });
  }
  return found;
}

test(
  "texts signed by either program, with either key of any address, are verified by both",
  needsRealPrograms,
  async (t) => {
    await onStage(async (stage) => {
      const daemon = await stage.daemon("ours");
      const open = (side: Side, mnemonic: string) =>
        stage.wallet(side, { mnemonic, daemonPort: daemon.port });
      const signers: Cast = { ours: await open("ours", words.bob), real: await open("real", words.bob) };
      const checkers = [await open("ours", words.alice), await open("real", words.alice)];
      const places = await addresses(signers.real);
      assert.deepEqual(await addresses(signers.ours), places);
      let refused = 0;
      for (const side of sides)
        for (const { address, index } of places)
          for (const signature_type of ["spend", "view"])
            for (const data of texts) {
              const [account_index, address_index] = index;
              const order = { data, account_index, address_index, signature_type };
              const { signature } = await signers[side].call("sign", order);
              const params = { data, address };
              const proof = { method: "verify", params, signature: String(signature) };
              const otherQuestions = {
                "another text": { data: `${data}.` },
                "another address": { address: checkers[0]!.address },
              };
              if (data === texts[0]) refused += await checkProof(checkers, { ...proof, otherQuestions });
              else for (const each of checkers) await verifies(each, { ...params, signature: signature! });
            }
      await oldSignatures(signers.ours, checkers);
      t.diagnostic(`${places.length} addresses; ${refused} mutations refused`);
    });
  },
);

async function verifies(wallet: WalletActor, params: ExactObject): Promise<ExactObject> {
  const verdict = await wallet.call("verify", params);
  assert.equal(verdict.good, true);
  return verdict;
}

/** Version 1 signs the bare hash of the text; both still verify it, and say that it is old. */
async function oldSignatures(signer: WalletActor, checkers: readonly WalletActor[]): Promise<void> {
  const { address } = signer;
  const { spendPublic, viewPublic } = parseAddress(address, "mainnet");
  for (const [key_type, publicKey] of [
    ["spend_key", spendPublic],
    ["view_key", viewPublic],
  ] as const) {
    const { key } = await signer.call("query_key", { key_type });
    const data = "an old text";
    const hash = keccak256(new TextEncoder().encode(data));
    const signature = `SigV1${encodeBase58(signMessageHash(hash, publicKey, fromHex(String(key))))}`;
    const verdicts: ExactObject[] = [];
    for (const each of checkers) verdicts.push(await verifies(each, { data, address, signature }));
    assert.equal(verdicts[0]!.old, true);
    assert.deepEqual(verdicts[0], verdicts[1]);
    for (const each of checkers)
      assert.equal((await verdictOf(each, "verify", { data: "other", address, signature })).good, false);
  }
}

async function refuseBadUris(
  cast: Cast,
  { address, integrated }: { readonly address: string; readonly integrated: string },
): Promise<void> {
  for (const [name, uri] of [
    ["another scheme", `bitcoin:${address}`],
    ["no address", "monero:"],
    ["a letter of the address changed", `monero:${address.slice(0, -1)}1`],
    ["an amount that is none", `monero:${address}?tx_amount=1e3`],
    ["an amount that is too large", `monero:${address}?tx_amount=99999999999`],
    ["an amount twice", `monero:${address}?tx_amount=1&tx_amount=1`],
    ["a part without value", `monero:${address}?tx_amount`],
    ["a payment id that is none", `monero:${address}?tx_payment_id=01`],
    ["a second payment id", `monero:${integrated}?tx_payment_id=0123456789abcdef`],
  ] as const)
    for (const side of sides)
      assert.ok((await verdictOf(cast[side], "parse_uri", { uri })).code !== undefined, `${side}: ${name}`);
}

test(
  "payment URIs of either program mean the same to the other, field by field",
  needsRealPrograms,
  async (t) => {
    await onStage(async (stage) => {
      const daemon = await stage.daemon("ours");
      const open = (side: Side) => stage.wallet(side, { mnemonic: words.bob, daemonPort: daemon.port });
      const cast: Cast = { ours: await open("ours"), real: await open("real") };
      const { address: subaddress } = await cast.ours.call("create_address", { account_index: 0 });
      const payment_id = "0123456789abcdef";
      const made = await cast.ours.call("make_integrated_address", { payment_id });
      const { address } = cast.ours;
      // Values with = and ? are read by ours alone: see DIFFERENCES.md.
      const requests: ExactObject[] = [
        { address },
        { address: subaddress! },
        { address: made.integrated_address! },
        { address, amount: 1n },
        { address, amount: 123_456_789_012_345n },
        { address, recipient_name: "El Monero Propietario" },
        { address, tx_description: "50% & more: Ünïcode/パン #1 + 2" },
        { address: subaddress!, amount: 10n ** 12n, recipient_name: "a&b", tx_description: "c%d" },
        { address: made.integrated_address!, amount: 5n, recipient_name: "n", tx_description: "d" },
      ];
      for (const request of requests)
        for (const side of sides) {
          const { uri } = await cast[side].call("make_uri", request);
          const read: ExactObject[] = [];
          for (const reader of sides)
            read.push((await cast[reader].call("parse_uri", { uri: uri! })) as ExactObject);
          assert.deepEqual(read[0]!.uri, read[1]!.uri, String(uri));
          const { amount, recipient_name, tx_description } = read[0]!.uri as ExactObject;
          const said = { amount: BigInt(String(amount)), recipient_name, tx_description };
          const { address: _, ...wanted } = request;
          assert.deepEqual(said, { amount: 0n, recipient_name: "", tx_description: "", ...wanted });
        }
      await refuseBadUris(cast, { address, integrated: String(made.integrated_address) });
      for (const side of sides) {
        const split = { integrated_address: made.integrated_address! };
        const answer = await cast[side].call("split_integrated_address", split);
        assert.equal(answer.payment_id, payment_id);
        assert.equal(answer.standard_address, address);
        assert.equal(
          (await cast[side].call("make_integrated_address", { payment_id })).integrated_address,
          made.integrated_address,
        );
      }
      t.diagnostic(`${requests.length} requests, written and read by both`);
    });
  },
);
