import assert from "node:assert/strict";
import { test } from "node:test";
import {
  additionalPublicKeys,
  BadBytes,
  isMinerTransaction,
  keyImagesOf,
  NO_KEY,
  NO_VIEW_TAG,
  outlineBlock,
  outputKey,
  parseExtra,
  Reader,
  readIdentifiedBlock,
  readTransaction,
  type Transaction,
  TransactionOffsets,
  type TransactionPrefix,
  txPublicKeys,
  writeBlock,
  writePrunedTransaction,
  writeTransaction,
} from "@anulo/protocol";
import { anyBlock, anyTransaction, type Chance, createChance } from "./any-block.ts";

const chance = createChance("places");
/** One for all, as a scan has it: what it found of the transaction before must be gone. */
const places = new TransactionOffsets();

/** What a scan wants to know of a prefix, by its value. */
function wanted(prefix: TransactionPrefix) {
  const { version, outputs, extra } = prefix;
  const fields = outputs.length === 0 ? [] : parseExtra(extra);
  const [input] = prefix.inputs;
  return plain({
    version,
    minerHeight: prefix.inputs.length === 1 && input!.type === "generation" ? input!.height : undefined,
    amountOut: outputs.reduce((sum, { amount }) => sum + amount, 0n),
    keyImages: keyImagesOf(prefix),
    outputKeys: outputs.map((output) => outputKey(output)),
    viewTags: outputs.map(({ target }) => (target.type === "taggedKey" ? target.viewTag : undefined)),
    publicKeys: txPublicKeys(fields),
    additionalKeys: additionalPublicKeys(fields),
  });
}

/** The same by the places of its bytes. */
function found(bytes: Uint8Array) {
  places.find(new Reader(bytes));
  const { version, minerHeight, amountOut, keyImages, outputKeys, viewTags, publicKeys, additionalKeys } =
    places;
  const at = (from: number) => bytes.slice(from, from + 32);
  return plain({
    version,
    minerHeight,
    amountOut,
    keyImages: keyImages.map(at),
    outputKeys: outputKeys.map((from) => (from === NO_KEY ? undefined : at(from))),
    viewTags: viewTags.map((tag) => (tag === NO_VIEW_TAG ? undefined : tag)),
    publicKeys: publicKeys.map(at),
    additionalKeys: additionalKeys.map(at),
  });
}

function plain(value: unknown): string {
  return JSON.stringify(value, (_, part) => {
    if (part instanceof Uint8Array) return Buffer.from(part).toString("hex");
    return typeof part === "bigint" ? String(part) : part;
  });
}

/** What `read` gives, or that the bytes were refused. */
function orRefused<T>(read: () => T): T | "refused" {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadBytes) return "refused";
    throw error;
  }
}

/** A version 2 prefix as the whole of a transaction: a byte for no RingCT follows it. */
function withoutProofs(tx: Transaction): Uint8Array {
  const { version } = tx.prefix;
  return writeTransaction({ ...tx, signatures: [], ringct: version === 1 ? undefined : { type: 0 } });
}

/** One byte is another, one is missing, or one too many is there. */
function damaged(bytes: Uint8Array, { below, bytes: random, oneOf }: Chance): Uint8Array {
  const at = below(bytes.length);
  const value = oneOf([random(1)[0]!, 0, 1, 0x7f, 0x80, 0xff, bytes[at]! ^ (1 << below(8))]);
  const middle = oneOf([[value], [], [bytes[at]!, value]]);
  return Uint8Array.from([...bytes.subarray(0, at), ...middle, ...bytes.subarray(at + 1)]);
}

test("keys stand in the bytes of any transaction where its value has them", () => {
  for (let i = 0; i < 1000; i++) {
    const tx = anyTransaction(chance);
    for (const bytes of [writeTransaction(tx), writePrunedTransaction(tx)])
      assert.equal(found(bytes), wanted(tx.prefix));
  }
});

test("of damaged bytes the same is found, or nothing, as of their value", () => {
  let refused = 0;
  for (let i = 0; i < 2000; i++) {
    const tx = anyTransaction(chance);
    if (tx.prefix.version === 1) continue;
    const bytes = damaged(withoutProofs(tx), chance);
    const value = orRefused(() => readTransaction(bytes).prefix);
    const place = orRefused(() => found(bytes));
    // A prefix may be whole where what follows it is not.
    if (value !== "refused") assert.equal(place, wanted(value));
    else if (place !== "refused")
      assert.equal(orRefused(() => readTransaction(whole(bytes))) === "refused", isShort(bytes));
    else refused++;
  }
  assert.ok(refused > 150);
});

/** The prefix that was found, as the whole of a transaction. */
function whole(bytes: Uint8Array): Uint8Array {
  const reader = new Reader(bytes);
  places.find(reader);
  return Uint8Array.from([...bytes.subarray(0, reader.position), ...(places.version === 1 ? [] : [0])]);
}

/** Version 1 has signatures after its prefix. */
function isShort(bytes: Uint8Array): boolean {
  places.find(new Reader(bytes));
  return places.version === 1 && places.keyImages.length > 0;
}

test("of any extra the same keys are found as by reading its fields", () => {
  const tx = anyTransaction(chance);
  const { below, bytes: random } = chance;
  for (let i = 0; i < 2000; i++) {
    const own = anyTransaction(chance).prefix.extra;
    const extra = i % 3 === 0 ? random(below(120)) : own.length === 0 ? own : damaged(own, chance);
    const prefix = { ...tx.prefix, version: 2, outputs: tx.prefix.outputs.slice(0, 1), extra };
    const inputs = prefix.inputs.length > 0 ? prefix.inputs : [{ type: "generation", height: 1 } as const];
    const bytes = writeTransaction({ prefix: { ...prefix, inputs }, signatures: [], ringct: { type: 0 } });
    assert.equal(found(bytes), wanted({ ...prefix, inputs }));
  }
});

test("the outline of any block is that of its value, damaged or not", () => {
  let refused = 0;
  for (let i = 0; i < 3000; i++) {
    const bytes = writeBlock(anyBlock(chance));
    const read = i % 2 === 0 ? bytes : damaged(bytes, chance);
    const outline = orRefused(() => outlineBlock(read));
    const identified = orRefused(() => readIdentifiedBlock(read));
    if (identified === "refused" || outline === "refused") {
      assert.equal(outline, identified);
      refused++;
      continue;
    }
    const { block, id, minerTransactionHash } = identified;
    const { header, minerTransaction, transactionHashes } = block;
    const { prefix } = minerTransaction;
    const [input] = prefix.inputs;
    const expected = {
      header,
      transactionHashes,
      minerTransactionHash,
      id,
      minerHeight:
        isMinerTransaction(minerTransaction) && input!.type === "generation" ? input!.height : undefined,
      reward: prefix.outputs.reduce((sum, { amount }) => sum + amount, 0n),
    };
    assert.deepEqual(Object.keys(outline).sort(), Object.keys(expected).sort());
    for (const name of Object.keys(expected) as (keyof typeof expected)[])
      assert.equal(plain(outline[name]), plain(expected[name]), name);
  }
  assert.ok(refused > 300 && refused < 1500);
});
