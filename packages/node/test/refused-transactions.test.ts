import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import { type ChainView, type Obligation, RuleViolation, type ViolationCode } from "@anulo/consensus";
import { networks, readTransaction, toHex, transactionHash, writeTransaction } from "@anulo/protocol";
import { openChain } from "../src/chain/open-chain.ts";
import type { ChainParts } from "../src/chain/parts.ts";
import { messages } from "../src/peers/messages.ts";
import { admit, admitFromStranger } from "../src/pool/admit.ts";
import { createRefusedTransactions } from "../src/pool/refused-transactions.ts";
import { createVerifiers } from "../src/verify-workers/verifiers.ts";
import { loadBlocks, mine, now, pow } from "./chain-fixture.ts";
import { meetStranger, speaking, type TestNode, until } from "./peer-network.ts";
import { goldenState } from "./recorded-chains.ts";

const open: TestNode[] = [];
const { blocks, pool: waiting } = goldenState();
const mined = blocks.flatMap(({ transactions }) => transactions);

afterEach(async () => {
  for (const { protocol, chain, faults } of open.splice(0)) {
    await protocol.stop();
    await chain.close();
    assert.deepEqual(faults, []);
  }
});

after(() => pow.stop());

/** A node on the recorded chain, and how many proofs it has checked since; `isOwner` stands for signatures. */
async function node({ isOwner = false } = {}) {
  let proofs = 0;
  const { discharge } = createVerifiers({ threads: 0, pow });
  const counted = (obligations: readonly Obligation[]) => {
    proofs += obligations.length;
    return discharge(isOwner ? obligations.filter(({ kind }) => kind !== "clsag") : obligations);
  };
  const chain = await openChain({ network: networks.regtest, fixedDifficulty: 1n, discharge: counted, now });
  const made = speaking(chain, { isOffline: true });
  open.push(made);
  await loadBlocks(chain.parts, blocks);
  proofs = 0;
  const checked = () => {
    const count = proofs;
    proofs = 0;
    return count;
  };
  return { made, parts: chain.parts, checked };
}

/** The same inputs in another transaction, whose signatures are wrong then. */
function altered(blob: Uint8Array, seed: number): Uint8Array {
  const transaction = readTransaction(blob);
  const extra = Uint8Array.from([...transaction.prefix.extra, 0, seed & 255, seed >> 8]);
  return writeTransaction({ ...transaction, prefix: { ...transaction.prefix, extra } } as typeof transaction);
}

/** The same with a range proof that does not hold. */
function withWrongRangeProof(blob: Uint8Array): Uint8Array {
  const transaction = structuredClone(readTransaction(blob));
  const { ringct } = transaction;
  assert.ok(ringct !== undefined && ringct.type !== 0 && ringct.prunable !== undefined);
  const [proof] = ringct.prunable.bulletproofsPlus;
  proof!.A = proof!.A1;
  return writeTransaction(transaction);
}

const isRefusal = (code: ViolationCode) => (error: unknown) =>
  error instanceof RuleViolation && error.violation.code === code;

async function refusal(parts: ChainParts, blob: Uint8Array, code: ViolationCode): Promise<void> {
  await assert.rejects(
    admitFromStranger(parts, { blob, doNotRelay: false, phase: "fluff" }),
    isRefusal(code),
  );
}

const tell = (...txs: Uint8Array[]) => ({ txs, _: new Uint8Array(), dandelionpp_fluff: true });

// Refusals that cost us and not the sender: coins spent long ago.
test("spent coins are refused before any proof is checked, and their sender is dropped in the end", async () => {
  const { made, parts, checked } = await node();
  const stranger = meetStranger(made);
  await until(made, () => made.protocol.links.every(({ state }) => state === "normal"));
  for (let i = 0; i < 100; i++) {
    await stranger.say(messages.newTransactions, tell(altered(mined[i % mined.length]!, i)));
  }
  assert.equal(stranger.dropped, undefined, "as many may come from an honest peer");
  await stranger.say(messages.newTransactions, tell(withWrongRangeProof(mined[0]!)));
  assert.match(stranger.dropped!.reason, /KEY_IMAGE_SPENT/);
  assert.deepEqual(stranger.dropped!.blame, { score: 1 });
  assert.equal(checked(), 0);
  assert.equal(parts.pool.size, 0);
});

test("a peer whose payments are refused now and then stays", async () => {
  const { made } = await node();
  const stranger = meetStranger(made);
  await until(made, () => made.protocol.links.every(({ state }) => state === "normal"));
  const link = made.protocol.links[0]!;
  for (let second = 0; second < 500; second++) assert.ok(link.refusals.add(1_000_000 + second));
  for (let i = 0; i < 99; i++) assert.ok(link.refusals.add(1_000_500));
  assert.equal(link.refusals.add(1_000_500), true);
  assert.equal(link.refusals.add(1_000_500), false);
  assert.equal(stranger.dropped, undefined);
});

// The same work again and again: what was found wrong once.
test("the same wrong transaction is verified once, and once more when the chain has changed", async () => {
  const { parts, checked } = await node();
  const wrong = altered(waiting[0]!, 1);
  await refusal(parts, wrong, "CLSAG");
  assert.ok(checked() > 0);
  await refusal(parts, wrong, "CLSAG");
  assert.equal(checked(), 0);
  await mine(parts, 1);
  await refusal(parts, wrong, "CLSAG");
  assert.ok(checked() > 0);
});

test("a proof that does not hold costs its sender a point", async () => {
  const { made } = await node();
  const stranger = meetStranger(made);
  await until(made, () => made.protocol.links.every(({ state }) => state === "normal"));
  await stranger.say(messages.newTransactions, tell(altered(waiting[0]!, 1)));
  assert.match(stranger.dropped!.reason, /CLSAG/);
  assert.deepEqual(stranger.dropped!.blame, { score: 1 });
});

const isMarked = ({ pool }: ChainParts, blob: Uint8Array) =>
  pool.get(toHex(transactionHash(readTransaction(blob))))?.row.doubleSpendSeen;

test("who does not own the coins of a waiting payment cannot make it look spent twice", async () => {
  const { parts } = await node();
  const blob = waiting[0]!;
  await admitFromStranger(parts, { blob, doNotRelay: false, phase: "fluff" });
  for (const forged of [altered(blob, 1), withWrongRangeProof(blob)]) {
    const ofCaller = admit(parts, { blob: forged, doNotRelay: false });
    await assert.rejects(ofCaller, isRefusal("KEY_IMAGE_IN_POOL"));
    assert.equal(isMarked(parts, blob), false);
  }
  await refusal(parts, altered(blob, 1), "CLSAG");
  await refusal(parts, withWrongRangeProof(altered(blob, 1)), "RANGE_PROOF");
  assert.equal(isMarked(parts, blob), false);
});

test("of rivals for the same coins the first is marked by proofs that hold, and by one alone", async () => {
  const { parts, checked } = await node({ isOwner: true });
  const blob = waiting[0]!;
  await admitFromStranger(parts, { blob, doNotRelay: false, phase: "fluff" });
  checked();
  await refusal(parts, withWrongRangeProof(altered(blob, 1)), "RANGE_PROOF");
  assert.equal(isMarked(parts, blob), false);
  await refusal(parts, altered(blob, 2), "KEY_IMAGE_IN_POOL");
  assert.equal(isMarked(parts, blob), true);
  assert.ok(checked() > 0);
  await refusal(parts, altered(blob, 3), "KEY_IMAGE_IN_POOL");
  assert.equal(checked(), 0);
  assert.equal(parts.pool.size, 1);
});

test("of more refusals than have room the oldest is forgotten, and all with the chain they were made on", () => {
  const refused = createRefusedTransactions(2);
  const [view, other] = [{}, {}] as [ChainView, ChainView];
  const blobs = [1, 2, 3].map((byte) => Uint8Array.of(byte));
  const found = (on: ChainView) => blobs.map((blob) => refused.find(on, blob)?.violation.code);
  const refusal = new RuleViolation({ code: "PROOF_OF_WORK", difficulty: 1n });
  refused.add(view, blobs[0]!, refusal);
  refused.add(view, blobs[1]!, refusal);
  assert.deepEqual(found(view), ["PROOF_OF_WORK", "PROOF_OF_WORK", undefined]);
  refused.add(view, blobs[2]!, refusal);
  assert.deepEqual(found(view), [undefined, "PROOF_OF_WORK", "PROOF_OF_WORK"]);
  assert.deepEqual(found(other), [undefined, undefined, undefined]);
  assert.deepEqual(found(view), [undefined, undefined, undefined]);
  refused.add(other, blobs[0]!, refusal);
  assert.deepEqual(found(other), ["PROOF_OF_WORK", undefined, undefined]);
});

test("ten thousand refusals are remembered", () => {
  const refused = createRefusedTransactions();
  const view = {} as ChainView;
  const blobOf = (number: number) => Uint8Array.of(number & 255, number >> 8);
  const refusal = new RuleViolation({ code: "PROOF_OF_WORK", difficulty: 1n });
  for (let number = 0; number < 10_000; number++) refused.add(view, blobOf(number), refusal);
  assert.equal(refused.find(view, blobOf(0))?.violation.code, "PROOF_OF_WORK");
  refused.add(view, blobOf(10_000), refusal);
  assert.equal(refused.find(view, blobOf(0)), undefined);
  assert.equal(refused.find(view, blobOf(1))?.violation.code, "PROOF_OF_WORK");
});
