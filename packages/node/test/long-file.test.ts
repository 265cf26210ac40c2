import assert from "node:assert/strict";
import { test } from "node:test";
import { RuleViolation } from "@anulo/consensus";
import {
  keyImagesOf,
  readTransaction,
  type Transaction,
  toHex,
  transactionHash,
  writeTransaction,
} from "@anulo/protocol";
import { RowMeter } from "@anulo/rpc";
import type { PrefetchOptions, RandomRows } from "@anulo/storage";
import { createBlockImporter } from "../src/chain/import-blocks.ts";
import { readBlockWithTransactions, readIncomingBlock } from "../src/chain/incoming-block.ts";
import type { OpenChainOptions } from "../src/chain/open-chain.ts";
import { rowsToJudge } from "../src/chain/rows-to-judge.ts";
import { admit, admitFromStranger } from "../src/pool/admit.ts";
import { rowsOfInputs } from "../src/pool/rows-of-inputs.ts";
import { createAnswerMemory } from "../src/rpc/memory.ts";
import { outputHandlers } from "../src/rpc/outputs.ts";
import { sendRawTransaction } from "../src/rpc/send-raw-transaction.ts";
import { transactionHandlers } from "../src/rpc/transactions.ts";
import { chainIn } from "./chain-fixture.ts";
import { recordedChain, recordedPool } from "./recorded-chains.ts";

const chain = recordedChain();

/** Blocks as a peer sends them. */
const fetched = chain.map(({ blob, transactions }) => ({
  incoming: readIncomingBlock(blob),
  size: blob.length,
  txs: transactions,
}));

/** A chain in a file longer than the memory, and the rows that it has been asked to prefetch. */
async function openLongFile(options: Partial<OpenChainOptions> = {}) {
  const { parts, close } = await chainIn(undefined, { memoryBytes: 0, ...options });
  const named: RandomRows[] = [];
  const areStrangers: boolean[] = [];
  const store = {
    ...parts.store,
    prefetch: (rows: () => RandomRows, options?: PrefetchOptions) => {
      areStrangers.push(options?.isStranger === true);
      return parts.store.prefetch(() => {
        named.push(rows());
        return named.at(-1)!;
      }, options);
    },
  };
  return { parts: { ...parts, store }, named, areStrangers, close };
}

test("a chain in a file longer than the memory accepts the same blocks, whose rows are prefetched", async () => {
  const { parts, named, close } = await openLongFile();
  const { completion } = await createBlockImporter(parts).stage(fetched);
  await completion;
  assert.equal(parts.store.read.height(), 1 + chain.length);
  const images = chain.flatMap(({ transactions }) =>
    transactions.flatMap((blob) => keyImagesOf(readTransaction(blob).prefix)).map(toHex),
  );
  assert.ok(images.length > 0);
  const withRings = named.filter(({ outputs }) => outputs !== undefined);
  const withPayments = named.filter(({ keyImages }) => keyImages!.length > 0);
  assert.deepEqual([withPayments.length > 0, withRings.length], [true, named.length]);
  assert.deepEqual(new Set(named.flatMap(({ keyImages }) => keyImages!.map(toHex))), new Set(images));
  await close();
});

test("of known blocks no member of a ring is prefetched", async () => {
  const knownBlocks = { height: 512, isGroup: () => true };
  const { parts, named, close } = await openLongFile({ knownBlocks });
  const own = fetched.map(({ incoming }) => incoming.id);
  const ids = [parts.state.view().topId, ...own, ...Array.from({ length: 12 }, () => new Uint8Array(32))];
  parts.confirmedBlocks.confirm({ start: 0, ids: ids.slice(0, 512), weights: undefined, isToTop: false });
  const until = 1 + chain.findIndex(({ transactions }) => transactions.length > 0);
  const { completion } = await createBlockImporter(parts).stage(fetched.slice(0, until));
  await completion;
  assert.equal(parts.store.read.height(), 1 + until);
  assert.ok(named.some(({ keyImages }) => keyImages!.length > 0));
  assert.ok(named.every(({ outputs }) => outputs === undefined));
  await close();
});

test("calls for outputs and key images answer as in a short file, and have their rows prefetched", async () => {
  const { parts, named, areStrangers, close } = await openLongFile();
  const { completion } = await createBlockImporter(parts).stage(fetched);
  await completion;
  assert.ok(!areStrangers.includes(true), "whoever has sent a block, it is this node that judges it");
  named.length = 0;
  areStrangers.length = 0;
  const memory = createAnswerMemory(parts);
  const shared = { parts, memory, restricted: false, rows: new RowMeter(() => 0) };
  const ask = async (path: string, request: object, more: object = {}) => {
    const { handler } = [...outputHandlers(), ...transactionHandlers()].find(
      ({ call }) => call.name === path,
    )!;
    const { signal } = new AbortController();
    return await handler!(request as never, { ...shared, signal, ...more } as never);
  };
  const outputs = [0n, 5n, 2n].map((index) => ({ amount: 0n, index }));
  const { outs } = (await ask("/get_outs", { outputs, get_txid: false })) as { outs: { length: number } };
  assert.equal(outs.length, outputs.length);
  const [spent] = chain.flatMap(({ transactions }) =>
    transactions.flatMap((blob) => keyImagesOf(readTransaction(blob).prefix)),
  );
  const unspent = new Uint8Array(32).fill(7);
  const key_images = [spent!, unspent].map(toHex);
  assert.deepEqual(await ask("/is_key_image_spent", { key_images }), { spent_status: [1, 0] });
  const { transactions: paid } = chain.find(({ transactions }) => transactions.length > 0)!;
  const transactions = [transactionHash(readTransaction(paid[0]!)), unspent];
  const txs_hashes = transactions.map(toHex);
  const found = (await ask("/get_transactions", { txs_hashes, decode_as_json: false })) as {
    missed_tx: string[];
    txs: object[];
  };
  assert.deepEqual(found.missed_tx, [txs_hashes[1]]);
  assert.equal(found.txs.length, 1);
  assert.deepEqual(named, [{ outputs }, { keyImages: [spent, unspent] }, { transactions }]);
  await ask("/get_outs", { outputs, get_txid: false }, { restricted: true });
  await ask("/is_key_image_spent", { key_images }, { restricted: true });
  await ask("/get_transactions", { txs_hashes, decode_as_json: false }, { restricted: true });
  assert.deepEqual(areStrangers, [false, false, false, true, true, true]);
  const signal = AbortSignal.abort(new Error("the caller has left"));
  await assert.rejects(ask("/is_key_image_spent", { key_images }, { signal }), /the caller has left/);
  await close();
});

/** The same transaction with rings of other sizes: the fee is enough for smaller ones. */
function withRingSize(transaction: Transaction, size: number): Transaction {
  const { prefix, ringct } = transaction;
  const inputs = prefix.inputs.map((input) => {
    assert.ok(input.type === "key");
    return { ...input, keyOffsets: input.keyOffsets.slice(0, size) };
  });
  assert.ok(ringct !== undefined && "prunable" in ringct && ringct.prunable !== undefined);
  const clsags = ringct.prunable.clsags.map((clsag) => ({ ...clsag, s: clsag.s.slice(0, size) }));
  const prunable = { ...ringct.prunable, clsags };
  return { ...transaction, prefix: { ...prefix, inputs }, ringct: { ...ringct, prunable } };
}

test("a payment's rows are prefetched before it enters the pool, unless it is refused or known without them", async () => {
  const { parts, named, areStrangers, close } = await openLongFile();
  const { completion } = await createBlockImporter(parts).stage(fetched);
  await completion;
  const [blob] = recordedPool();
  const rows = rowsOfInputs([readTransaction(blob!)], { withRings: true });
  assert.ok(rows.outputs!.length > rows.keyImages!.length);
  const submission = { blob: blob!, doNotRelay: false };
  named.length = 0;
  areStrangers.length = 0;
  assert.equal(await admitFromStranger(parts, submission), "added");
  assert.deepEqual([named, areStrangers], [[rows], [true]]);
  assert.equal(await admit(parts, submission), "known");
  assert.deepEqual([named[1], areStrangers[1]], [{}, false]);
  // With another proof it is another transaction that spends the same.
  const doubleSpend = blob!.slice();
  doubleSpend[doubleSpend.length - 1]! ^= 1;
  await assert.rejects(admitFromStranger(parts, { ...submission, blob: doubleSpend }), RuleViolation);
  assert.deepEqual([named[2], areStrangers[2]], [{}, true]);
  // Of rings that the rules refuse no member is read.
  const other = writeTransaction(withRingSize(readTransaction(recordedPool()[1]!), 12));
  const refused = admitFromStranger(parts, { ...submission, blob: other });
  await assert.rejects(
    refused,
    (error) => error instanceof RuleViolation && error.violation.code === "RING_SIZE",
  );
  assert.deepEqual(named[3], {});
  // Nor for one that is in a block, which any peer can send as often as it likes.
  const [mined] = chain.flatMap(({ transactions }) => transactions);
  assert.equal(await admitFromStranger(parts, { ...submission, blob: mined! }), "known");
  assert.deepEqual(named[4], {});
  assert.equal(named.length, 5);
  await close();
});

test("the rows of a payment that a caller of a restricted port submits wait behind those of others", async () => {
  const { parts, areStrangers, close } = await openLongFile();
  const { completion } = await createBlockImporter(parts).stage(fetched);
  await completion;
  areStrangers.length = 0;
  const [first, second] = recordedPool();
  for (const [blob, restricted] of [
    [first, false],
    [second, true],
  ] as const) {
    const request = { tx_as_hex: toHex(blob!), do_not_relay: true, do_sanity_checks: false };
    const context = { parts, restricted, signal: new AbortController().signal };
    assert.deepEqual(await sendRawTransaction(request, context as never), {
      reason: "Not relayed",
      not_relayed: true,
    });
  }
  assert.deepEqual(areStrangers, [false, true]);
  await close();
});

test("the rows of a block are its key images and every member of its rings, which known blocks need not", async () => {
  const { blob, transactions } = chain.find((block) => block.transactions.length > 0)!;
  const block = await readBlockWithTransactions(blob, transactions);
  const whole = rowsToJudge(block, { withRings: true });
  const known = rowsToJudge(block, { withRings: false });
  assert.equal(known.outputs, undefined);
  assert.deepEqual(known.keyImages, whole.keyImages);
  const inputs = transactions.flatMap((each) => readTransaction(each).prefix.inputs);
  const rings = inputs.flatMap((input) => {
    assert.ok(input.type === "key");
    let index = 0n;
    return input.keyOffsets.map((offset) => {
      index += offset;
      return { amount: input.amount, index };
    });
  });
  assert.deepEqual(whole.outputs, rings);
});
