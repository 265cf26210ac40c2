import assert from "node:assert/strict";
import * as protocol from "../../packages/protocol/dist/src/index.js";
import { debianCorpus, recordedBlocks, recordedTransactions, text } from "../corpus.mjs";

const { BadBytes, BadAddress, BadAmount, BadHex, BadMnemonic } = protocol;
const asText = (bytes) => Buffer.from(bytes).toString("utf8");

const addresses = [
  "44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A",
  "888tNkZrPN6JsEgekjMnABU4TBzc2Dt29EPAvkRxbANsAnjyPbb3iQ1YBRk1UXcdRsiKc9dhwMVgN5S9cQUiyoogDavup3H",
  "4Ljin4CrSNHKi7Eiv9J6dN4TxGRVzoPmAsqy7Fje6cZ9ZbWQnHXNoYzh7YpLiVYYUFSEWKMLqHzeTFV7FdNqrjKqpYxGrBxHMtYc8uRZZy",
];

/** What was read is written as it was, and has an identity. */
function readAndWrite(bytes, options) {
  const tx = protocol.readTransaction(bytes, options);
  if (options === undefined) {
    assert.deepEqual(protocol.writeTransaction(tx), new Uint8Array(bytes));
    protocol.transactionHash(tx);
    protocol.transactionWeight(tx);
  }
  protocol.parseExtra(tx.prefix.extra);
}

/** Names of 255 bytes are read, but not written. Source: portable_storage_to_bin.h `pack_entry_to_buff`. */
function hasLongestName(object) {
  return [...object].some(
    ([name, { type, value, values = [value] }]) =>
      name.length > 254 || (type === "object" && values.some(hasLongestName)),
  );
}

/** A chunk of a `blockchain.raw` with a recorded block. */
function packaged({ blob, transactions }) {
  return protocol.writeBlockPackage({
    blob,
    transactions,
    weight: 1,
    cumulativeDifficulty: 2n ** 65n,
    generated: 3n,
  });
}

export const targets = {
  "chain-file": {
    seeds: () => [
      protocol.writeChainFileHeader({ first: 0, last: 499 }),
      ...recordedBlocks
        .slice(0, 5)
        .map((blob) => packaged({ blob, transactions: recordedTransactions.slice(0, 2) })),
    ],
    refusals: [BadBytes],
    run(bytes) {
      if (bytes[0] === 0x86) return void protocol.readChainFileHeader(bytes);
      assert.deepEqual(
        protocol.writeBlockPackage(protocol.readBlockPackage(bytes, 1)),
        new Uint8Array(bytes),
      );
    },
  },
  transaction: {
    seeds: () => [...recordedTransactions, ...debianCorpus("transaction")],
    refusals: [BadBytes],
    run: (bytes) => readAndWrite(bytes),
  },
  "pruned-transaction": {
    seeds: () =>
      recordedTransactions.map((it) => protocol.writePrunedTransaction(protocol.readTransaction(it))),
    refusals: [BadBytes],
    run: (bytes) => readAndWrite(bytes, { pruned: true }),
  },
  block: {
    seeds: () => [...recordedBlocks, ...debianCorpus("block")],
    refusals: [BadBytes],
    run(bytes) {
      const block = protocol.readBlock(bytes);
      // As in the original, a size cut off at the end counts as 0: what is written may be a byte longer.
      assert.deepEqual(protocol.readBlock(protocol.writeBlock(block)), block);
      protocol.blockId(block);
      protocol.blockHashingBlob(block);
    },
  },
  extra: {
    seeds: () => [
      ...recordedTransactions.map((it) => protocol.readTransaction(it).prefix.extra),
      ...debianCorpus("tx-extra"),
    ],
    run(bytes) {
      protocol.parseExtra(bytes);
    },
  },
  "portable-storage": {
    seeds: () => [
      ...debianCorpus("load-from-binary"),
      protocol.writePortable(
        new Map([
          ["a", { type: "uint64", value: 5n }],
          [
            "b",
            { type: "object", values: [new Map([["c", { type: "string", value: Buffer.from("text") }]])] },
          ],
          ["d", { type: "bool", values: [true, false] }],
        ]),
      ),
    ],
    refusals: [BadBytes],
    run(bytes) {
      const object = protocol.readPortable(bytes);
      if (hasLongestName(object)) return;
      const written = protocol.writePortable(object);
      assert.deepEqual(protocol.readPortable(written), object);
    },
  },
  address: {
    seeds: () => text(...addresses),
    refusals: [BadAddress],
    run: (bytes) => protocol.parseAddress(asText(bytes)),
  },
  mnemonic: {
    seeds: () =>
      ["English", "Español", "日本語", "Esperanto"].map((language) =>
        Buffer.from(protocol.encodeMnemonic(new Uint8Array(32).fill(3), language)),
      ),
    refusals: [BadMnemonic],
    run: (bytes) => protocol.decodeMnemonic(asText(bytes)),
  },
  base58: {
    seeds: () => [...text(...addresses, "1", "11", "zzzzzzzzzzz"), ...debianCorpus("base58")],
    refusals: [BadAddress, BadBytes],
    run(bytes) {
      const decoded = protocol.decodeBase58(asText(bytes));
      assert.equal(protocol.encodeBase58(decoded), asText(bytes));
    },
  },
  amount: {
    seeds: () => text("1", "0.000000000001", "18446744.073709551615", "1.", ".5", "1e3"),
    refusals: [BadAmount],
    run(bytes) {
      const amount = protocol.parseAmount(asText(bytes));
      assert.equal(protocol.parseAmount(protocol.formatAmount(amount)), amount);
    },
  },
  hex: {
    seeds: () => text("00ff", "ABCDEF", "0"),
    refusals: [BadHex],
    run: (bytes) =>
      assert.equal(protocol.toHex(protocol.fromHex(asText(bytes))), asText(bytes).toLowerCase()),
  },
};
