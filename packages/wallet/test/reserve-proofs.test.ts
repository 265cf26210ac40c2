import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkKeyImageProofs, keccak256, pointAdd, signMessageHash } from "@anulo/crypto";
import {
  concatBytes,
  decodeBase58,
  encodeBase58,
  fromHex,
  type Transaction,
  toHex,
  transactionHash,
  writeExtra,
  writeTransaction,
} from "@anulo/protocol";
import type { Daemon } from "../src/daemon.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { OutputBook } from "../src/outputs/output-book.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { proveReserve } from "../src/proofs/prove-reserve.ts";
import { parseReserveProof } from "../src/proofs/reserve-proof.ts";
import { bytesOfText } from "../src/proofs/text.ts";
import { TRANSACTIONS_PER_CALL } from "../src/proofs/transactions.ts";
import { verifyReserve } from "../src/proofs/verify-reserve.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { createRuntime } from "../src/runtime.ts";
import { receive, seededRandom } from "./transfer-fixture.ts";

const runtime = createRuntime();

const random = seededRandom("reserve");
const prover = createKeys(random);
/** The point (0, −1). */
const ORDER_2 = fromHex(`ec${"ff".repeat(30)}7f`);
const message = bytesOfText("m");

/** The transaction that pays a miner an output everybody sees the amount of. */
function minedTransaction({ oneTimeKey, txPublicKey, amount }: OwnedOutput, height: number): Transaction {
  const prefix = {
    version: 2,
    unlockTime: 0n,
    inputs: [{ type: "generation" as const, height }],
    outputs: [{ amount, target: { type: "key" as const, key: oneTimeKey } }],
    extra: writeExtra([{ type: "publicKey", key: txPublicKey }]),
  };
  return { prefix, signatures: undefined, ringct: { type: 0 } } as unknown as Transaction;
}

type Funds = { readonly outputs: OwnedOutput[]; readonly blobs: Map<string, Uint8Array> };

/** Outputs of 1, 2, 3 … in transactions of their own, among addresses of two accounts. */
function fundsOf(count: number): Funds {
  const blobs = new Map<string, Uint8Array>();
  const outputs = Array.from({ length: count }, (_, i) => {
    const subaddress = { major: i % 2, minor: i % 3 };
    const output = receive(prover, { amount: BigInt(i + 1), globalIndex: i, subaddress }, random);
    const transaction = minedTransaction(output, i);
    const txHash = transactionHash(transaction);
    blobs.set(toHex(txHash), writeTransaction(transaction));
    return { ...output, txHash };
  });
  return { outputs, blobs };
}

type Lies = {
  readonly spent?: readonly number[];
  readonly inPool?: string;
  readonly swapped?: readonly [string, string];
};

/** A node that has the transactions, and remembers what it was asked. */
function nodeOf({ blobs }: Funds, { spent = [], inPool, swapped }: Lies = {}) {
  const asked = { transactions: [] as number[], keyImages: [] as number[] };
  const daemon = {
    getTransactions: async ({ txs_hashes }: { txs_hashes: string[] }) => {
      asked.transactions.push(txs_hashes.length);
      const known = txs_hashes.filter((txHash) => blobs.has(txHash));
      const txs = known.map((txHash) => {
        const blob = blobs.get(swapped?.[0] === txHash ? swapped[1] : txHash)!;
        const empty = { prunable_as_hex: "", prunable_hash: "", pruned_as_hex: "" };
        return { ...empty, as_hex: toHex(blob), in_pool: inPool === txHash, tx_hash: txHash };
      });
      return { txs };
    },
    client: {
      isKeyImageSpent: async ({ key_images }: { key_images: string[] }) => {
        asked.keyImages.push(key_images.length);
        return { status: "OK", spent_status: key_images.map((_, i) => (spent.includes(i) ? 1 : 0)) };
      },
    },
  };
  return { asked, daemon: daemon as unknown as Daemon };
}

/** The text of a proof for outputs of a wallet that has them in this order, an output as often as it is named. */
async function proofOf(named: readonly OwnedOutput[]): Promise<string> {
  const outputs = OutputBook.of(new Set(named));
  const places = Uint32Array.from(named, ({ oneTimeKey }) => outputs.placeOfKey(oneTimeKey)!);
  const parts: string[] = [];
  const proof = proveReserve({ outputs, places }, { keys: prover, message, runtime });
  for await (const part of proof) parts.push(part);
  return parts.join("");
}

async function verdictOf(text: string, daemon: Daemon, said = message) {
  const proof = await parseReserveProof(text, prover);
  return verifyReserve(proof, { daemon, address: prover, message: said, threads: runtime.threads });
}

const HEADER = "ReserveProofV2";
/** Varint count of entries, then each: version, id, index, shared secret, key image, two proofs. */
const ENTRY = 1 + 32 + 1 + 32 + 32 + 64 + 64;
/** The size of a pair, key, signature. */
const SPEND_KEY = 1 + 32 + 64;
const KEY_IMAGE = 1 + 32 + 1 + 32;
const countBytes = (count: number) => (count < 128 ? 1 : 2);

/** The proof with a change in the bytes of one entry. */
function changed(text: string, count: number, [entry, at]: readonly [entry: number, at: number]): string {
  const bytes = decodeBase58(text.slice(HEADER.length));
  bytes[countBytes(count) + ENTRY * entry + at]! ^= 1;
  return HEADER + encodeBase58(bytes);
}

/** Entries that prove nothing, under signatures of the address for them all: what anyone can make of his own. */
function nonsense(count: number, txHashes: readonly string[]): string {
  const entries = Array.from({ length: count }, (_, i) =>
    concatBytes(Uint8Array.of(0), fromHex(txHashes[i]!), Uint8Array.of(0), random(32 + 32 + 64 + 64)),
  );
  const images = entries.map((entry) => entry.subarray(KEY_IMAGE, KEY_IMAGE + 32));
  const { spendPublic, viewPublic } = prover;
  const prefixHash = keccak256(concatBytes(message, spendPublic, viewPublic, ...images));
  const signature = signMessageHash(prefixHash, spendPublic, prover.spendSecret);
  const size = Uint8Array.of((count & 127) | 128, count >> 7);
  const spendKey = concatBytes(Uint8Array.of(1, 2), spendPublic, signature);
  return HEADER + encodeBase58(concatBytes(size, ...entries, spendKey));
}

describe("proofs of funds", () => {
  const few = fundsOf(12);

  test("of many outputs, made and checked in threads, show all of them, and what is spent since", async () => {
    const funds = fundsOf(250);
    const text = await proofOf(funds.outputs);
    const { daemon, asked } = nodeOf(funds, { spent: [0, 249] });
    assert.deepEqual(await verdictOf(text, daemon), { total: (250n * 251n) / 2n, spent: 251n });
    assert.deepEqual(asked, { transactions: [100, 100, 50], keyImages: [250] });
    runtime.threads.most = 1;
    assert.deepEqual(await verdictOf(text, daemon), { total: (250n * 251n) / 2n, spent: 251n });
  });

  test("prove nothing with one byte changed in any part of any entry", async () => {
    const text = await proofOf(few.outputs);
    const { daemon } = nodeOf(few);
    assert.equal((await verdictOf(text, daemon))?.total, 78n);
    const parts = [20, 33 + 5, KEY_IMAGE + 5, KEY_IMAGE + 40, KEY_IMAGE + 70, KEY_IMAGE + 100, ENTRY - 20];
    for (const entry of [0, 7, 11]) {
      for (const at of parts) {
        const verdict = verdictOf(changed(text, 12, [entry, at]), daemon);
        await verdict.then(
          (shown) => assert.equal(shown, undefined, `${entry} ${at}`),
          (error) => assert.ok(error instanceof WalletRefusal, `${entry} ${at}`),
        );
      }
    }
  });

  test("prove nothing with a key image that has a part of small order, though its proof holds", async () => {
    const [output] = few.outputs;
    const keyImage = pointAdd(output!.keyImage!, ORDER_2);
    const holds = async (text: string) => {
      const { entries } = await parseReserveProof(text, prover);
      const prefixHash = keccak256(concatBytes(message, prover.spendPublic, prover.viewPublic, keyImage));
      const proof = entries[0]!.keyImageProof;
      return checkKeyImageProofs([{ prefixHash, publicKey: output!.oneTimeKey, keyImage, proof }])[0]!;
    };
    let text = "";
    do text = await proofOf([{ ...output!, keyImage }]);
    while (!(await holds(text)));
    assert.equal(await verdictOf(text, nodeOf(few).daemon), undefined);
  });

  test("have the node asked nothing when they are not signed, or name an output twice", async () => {
    const { daemon, asked } = nodeOf(few);
    const text = await proofOf(few.outputs);
    assert.equal(await verdictOf(text, daemon, bytesOfText("other")), undefined);
    const twice = await proofOf([few.outputs[0]!, few.outputs[0]!]);
    assert.equal(await verdictOf(twice, daemon), undefined);
    assert.deepEqual(asked, { transactions: [], keyImages: [] });
  });

  test("that are nonsense have the node asked about the first parts of them alone", async () => {
    const funds = fundsOf(1);
    const [txHash] = funds.blobs.keys();
    const count = 20 * TRANSACTIONS_PER_CALL;
    const ids = Array.from({ length: count }, () => toHex(random(32)));
    const node = nodeOf(funds);
    for (const id of ids) funds.blobs.set(id, funds.blobs.get(txHash!)!);
    await assert.rejects(verdictOf(nonsense(count, ids), node.daemon), /right transaction/);
    assert.ok(node.asked.transactions.length <= 2, `${node.asked.transactions}`);
    assert.deepEqual(node.asked.keyImages, []);
    const same = Array.from({ length: count }, () => txHash!);
    const one = nodeOf(funds);
    assert.equal(await verdictOf(nonsense(count, same), one.daemon), undefined);
    assert.deepEqual(one.asked, { transactions: [1], keyImages: [] });
  });

  test("are refused where an output was sent to an address they don't sign for", async () => {
    const bytes = decodeBase58((await proofOf(few.outputs)).slice(HEADER.length));
    const shorter = bytes.slice(0, -SPEND_KEY);
    shorter[1 + ENTRY * 12]!--;
    const verdict = verdictOf(HEADER + encodeBase58(shorter), nodeOf(few).daemon);
    await assert.rejects(verdict, /doesn't seem to have received/);
  });

  test("are refused for the first entry that is wrong, as its node tells", async () => {
    const text = await proofOf(few.outputs);
    const ids = [...few.blobs.keys()];
    const refusal = (lies: Lies, funds = few) => verdictOf(text, nodeOf(funds, lies).daemon);
    await assert.rejects(refusal({ inPool: ids[3]! }), /Tx is unconfirmed/);
    await assert.rejects(refusal({ swapped: [ids[2]!, ids[4]!], inPool: ids[3]! }), /right transaction/);
    await assert.rejects(refusal({ inPool: ids[1]!, swapped: [ids[2]!, ids[4]!] }), /Tx is unconfirmed/);
    const without = new Map([...few.blobs].slice(1));
    await assert.rejects(refusal({}, { ...few, blobs: without }), /Failed to get transaction from daemon/);
    const spoilt = changed(text, 12, [2, ENTRY - 20]);
    assert.equal(await verdictOf(spoilt, nodeOf(few, { inPool: ids[3]! }).daemon), undefined);
    await assert.rejects(verdictOf(spoilt, nodeOf(few, { inPool: ids[1]! }).daemon), /Tx is unconfirmed/);
  });
});
