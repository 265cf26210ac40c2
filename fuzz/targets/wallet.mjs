import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BadBytes, decode, encode, fromHex, parseAddress } from "../../packages/protocol/dist/src/index.js";
import { loadRecording } from "../../packages/testkit/dist/src/golden/recording.js";
import { BadCbor, readCbor, writeCbor } from "../../packages/wallet/dist/src/cbor.js";
import { exportedOutputs } from "../../packages/wallet/dist/src/cold-signing/exported-outputs.js";
import { unseal } from "../../packages/wallet/dist/src/cold-signing/sealed.js";
import { signedKind, unsignedKind } from "../../packages/wallet/dist/src/cold-signing/tx-sets.js";
import { DamagedJournal, Journal } from "../../packages/wallet/dist/src/file/journal.js";
import { readKeysFile, WrongPassword, writeKeysFile } from "../../packages/wallet/dist/src/file/keys-file.js";
import { parsePaymentUri } from "../../packages/wallet/dist/src/keys/payment-uri.js";
import * as exchange from "../../packages/wallet/dist/src/multisig/key-exchange-message.js";
import { verifyMessage } from "../../packages/wallet/dist/src/proofs/message.js";
import { parseReserveProof } from "../../packages/wallet/dist/src/proofs/reserve-proof.js";
import { WalletRefusal } from "../../packages/wallet/dist/src/refusal.js";
import { createRuntime } from "../../packages/wallet/dist/src/runtime.js";
import { pendingTransaction, readMetadata } from "../../packages/wallet/dist/src/transfer/metadata.js";
import { debianCorpus, keysOf, text, wallets } from "../corpus.mjs";

const runtime = createRuntime({ random: (size) => new Uint8Array(size) });
const address = parseAddress(wallets.a.address);

/** Values of a field anywhere in the recorded answers of a group. */
function recorded(group, name) {
  const found = new Set();
  const search = (value) => {
    if (Array.isArray(value)) for (const item of value) search(item);
    else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        const texts = Array.isArray(member) ? member : [member];
        if (key === name) for (const it of texts) if (typeof it === "string" && it !== "") found.add(it);
        search(member);
      }
    }
  };
  for (const step of loadRecording(group).steps) search(step.answer);
  return [...found];
}

async function unsealed(group, name, { magic }) {
  const plain = [];
  for (const it of recorded(group, name)) {
    for (const wallet of [wallets.a, wallets.b]) {
      const bytes = await unseal(magic, fromHex(it), { keys: keysOf(wallet), runtime }).catch(
        () => undefined,
      );
      if (bytes !== undefined) plain.push(bytes);
    }
  }
  return plain;
}

const scratch = mkdtempSync(join(tmpdir(), "anulo-fuzz-"));
const journalPath = join(scratch, "journal");
const journalSecret = new Uint8Array(32).fill(7);
const stop = () => rmSync(scratch, { recursive: true, force: true });
const nothingInIt = Buffer.from([1, 0, 2, 0, 0]);

export const targets = {
  "payment-uri": {
    seeds: () =>
      text(
        `monero:${wallets.a.address}?tx_amount=0.5&recipient_name=a%20b&tx_description=x`,
        `monero:${wallets.b.address}?tx_payment_id=0123456789abcdef`,
      ),
    refusals: [WalletRefusal],
    run: (input) => parsePaymentUri(input.toString("utf8"), { network: "mainnet", takesPaymentIds: true }),
  },
  "keys-file": {
    async seeds() {
      const keys = keysOf(wallets.a);
      const file = { keys, createdAt: 1n, settings: new Map([["seed_language", "English"]]) };
      return [await writeKeysFile(file, { ...runtime, password: "" })];
    },
    refusals: [WrongPassword],
    run: (input) => readKeysFile(new Uint8Array(input), { ...runtime, password: "" }),
  },
  "wallet-journal": {
    async seeds() {
      const journal = await Journal.create(journalPath, journalSecret, [
        Buffer.from("one"),
        Buffer.alloc(500),
      ]);
      await journal.append(Buffer.from("three"));
      await journal.close();
      return [readFileSync(journalPath)];
    },
    refusals: [DamagedJournal],
    stop,
    async run(input) {
      writeFileSync(journalPath, input);
      const { journal } = await Journal.open(journalPath, journalSecret);
      await journal.close();
    },
  },
  "unsigned-set": {
    seeds: async () => [
      nothingInIt,
      ...(await unsealed("wallet_cold", "unsigned_txset", unsignedKind)),
      ...debianCorpus("cold-transaction"),
    ],
    refusals: [BadBytes],
    run: (input) => encode(unsignedKind.codec, decode(unsignedKind.codec, input)),
  },
  "signed-set": {
    seeds: async () => [
      Buffer.from([0, 0, 0, 0]),
      ...(await unsealed("wallet_cold", "signed_txset", signedKind)),
    ],
    refusals: [BadBytes],
    run: (input) => encode(signedKind.codec, decode(signedKind.codec, input)),
  },
  "exported-outputs": {
    seeds: () => [Buffer.from([2, 0, 0]), ...debianCorpus("cold-outputs")],
    refusals: [BadBytes],
    run: (input) => encode(exportedOutputs, decode(exportedOutputs, input)),
  },
  "transfer-metadata": {
    seeds: () => [
      nothingInIt,
      ...recorded("wallet_send", "tx_metadata")
        .slice(0, 8)
        .map((it) => fromHex(it)),
    ],
    refusals: [BadBytes],
    run: (input) => encode(pendingTransaction, readMetadata(input)),
  },
  "proof-texts": {
    seeds: () => [
      ...text("ReserveProofV2x", "SigV2x"),
      ...text(...recorded("wallet_read", "signature").slice(0, 12)),
    ],
    refusals: [WalletRefusal, BadBytes],
    async run(input) {
      const proof = input.toString("latin1");
      verifyMessage(address, new Uint8Array(0), proof);
      await parseReserveProof(proof, address);
    },
  },
  "key-exchange": {
    seeds: () => [
      ...text("MultisigxV2R1x", "MultisigxV2Rnx"),
      ...text(...recorded("wallet_multisig", "multisig_info").slice(0, 8)),
    ],
    refusals: [exchange.BadKeyExchangeMessage],
    run: (input) => exchange.parseKeyExchangeMessage(input.toString("latin1")),
  },
  cbor: {
    seeds: () => [
      writeCbor({ a: [1, -1, 2n ** 64n - 1n, "text", Buffer.from("bytes")], b: { c: null, d: true } }),
      writeCbor([[], {}, ""]),
    ],
    refusals: [BadCbor],
    run: (input) => readCbor(new Uint8Array(input)),
  },
};
