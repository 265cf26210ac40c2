import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import {
  blockId,
  parseExtra,
  readBlock,
  readPortable,
  readTransaction,
  toHex,
  transactionHash,
  transactionWeight,
  writeBlock,
  writePortable,
  writeTransaction,
} from "../src/index.ts";

const corpus = "/usr/share/monero/testdata/fuzz";
const skip = !existsSync(corpus) && !process.env.CI && "the Debian package monero-tests is not installed";
const read = (name: string) => new Uint8Array(readFileSync(`${corpus}/${name}`));

test("blocks of the Debian corpus read, write back and hash", { skip }, () => {
  const ids = {
    BLOCK1: "4d6a78e270fdc9d90c5fa3605f4bd573c9b60ff49eab86109e4694b47d7cd000",
    BLOCK2: "17ad8a8ecf1538e2d4ac0d81a6b4cf475de2d7d586f1dd3fde6028fb911333fc",
  };
  for (const [name, id] of Object.entries(ids)) {
    const bytes = read(`block/${name}`);
    const block = readBlock(bytes);
    assert.deepEqual(writeBlock(block), bytes);
    assert.equal(toHex(blockId(block)), id);
  }
});

test("transactions of the Debian corpus read, write back, hash and weigh", { skip }, () => {
  const facts = {
    TX1: { id: "b112711294c9367a17a647000a33128ae9040768dbf0c62632edf7cdd0d8ccf5", weight: 95 },
    TX2: { id: "9d91c3a9b610ed37b46e4b7b37b3c0e59b5b646bc68d6bf53181d4a3c3d1ef36", weight: 13255 },
  };
  for (const [name, { id, weight }] of Object.entries(facts)) {
    const bytes = read(`transaction/${name}`);
    const transaction = readTransaction(bytes);
    assert.deepEqual(writeTransaction(transaction), bytes);
    assert.equal(toHex(transactionHash(transaction)), id);
    assert.equal(transactionWeight(transaction), weight);
  }
});

test("extra fields of the Debian corpus are told apart", { skip }, () => {
  const kinds = (name: string) => parseExtra(read(`tx-extra/${name}`)).map(({ type }) => type);
  assert.deepEqual(kinds("TXEXTRA1"), ["publicKey", "nonce"]);
  assert.deepEqual(kinds("TXEXTRA2"), ["publicKey", "additionalPublicKeys"]);
});

test("the range proof of the Debian corpus is read in a transaction, and portable storage on its own", {
  skip,
}, () => {
  const proof = read("bulletproof/BP0");
  const one = new Uint8Array(32);
  const [input, output] = [
    [2, 0, 1, 0, ...one],
    [0, 2, ...one],
  ];
  const prefix = [2, 0, 1, ...input, 1, ...output, 0];
  const base = [3, 0, ...one, ...one, ...one];
  const signature = [...one, ...one, ...one, ...one];
  const bytes = Uint8Array.from([...prefix, ...base, 1, 0, 0, 0, ...proof, ...signature]);
  const { ringct } = readTransaction(bytes);
  assert.equal(ringct?.type === 3 && ringct.prunable?.bulletproofs[0]?.L.length, 6);
  assert.deepEqual(writeTransaction(readTransaction(bytes)), bytes);
  const storage = read("load-from-binary/BINARY1");
  assert.deepEqual(writePortable(readPortable(storage)), storage);
});
