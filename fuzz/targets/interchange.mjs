// What other programs and other people hand to a wallet, beneath its seals.
import { chacha20 } from "../../packages/crypto/dist/src/index.js";
import {
  BadBytes,
  BadHex,
  byteString,
  decode,
  encode,
  parseAddress,
  readTransaction,
  Writer,
} from "../../packages/protocol/dist/src/index.js";
import { signerInfos } from "../../packages/wallet/dist/src/actions/multisig-info.js";
import { checkForm, ringOf } from "../../packages/wallet/dist/src/cold-signing/construction.js";
import { describeSet } from "../../packages/wallet/dist/src/cold-signing/describe-set.js";
import { unsignedKind } from "../../packages/wallet/dist/src/cold-signing/tx-sets.js";
import {
  newSettings,
  readKeysFile,
  WrongPassword,
  writeKeysFile,
} from "../../packages/wallet/dist/src/file/keys-file.js";
import {
  cacheId,
  piecesOfCache,
  readOriginalCache,
  resealCache,
} from "../../packages/wallet/dist/src/file/original-cache.js";
import { takeOver } from "../../packages/wallet/dist/src/file/take-over.js";
import { readWalletJson } from "../../packages/wallet/dist/src/keys/wallet-json.js";
import { applyChange } from "../../packages/wallet/dist/src/ledger/apply-change.js";
import { createLedger } from "../../packages/wallet/dist/src/ledger/ledger.js";
import { multisigKind } from "../../packages/wallet/dist/src/multisig/tx-set.js";
import { checkPaymentProof } from "../../packages/wallet/dist/src/proofs/payment-proof.js";
import { checkSpendProof } from "../../packages/wallet/dist/src/proofs/spend-proof.js";
import { WalletRefusal } from "../../packages/wallet/dist/src/refusal.js";
import { createRuntime } from "../../packages/wallet/dist/src/runtime.js";
import { keysOf, recordedTransactions, text, wallets } from "../corpus.mjs";
import { targets as wallet } from "./wallet.mjs";

const runtime = createRuntime({ kdfRounds: 0, random: (size) => new Uint8Array(size) });
/** As many letters as a key has bytes: without a round of hashing, a password is the file's key. */
const password = "a password of just thirty-two !!";
const key = new TextEncoder().encode(password);
const iv = new Uint8Array(8);

/** As a wallet knows it that has never seen a node. */
const unknownChain = { lastBlockReward: 0n, height: 1 };

/** The layer every wallet file has. */
function sealed(plain) {
  const writer = new Writer();
  writer.writeBytes(iv);
  byteString.write(writer, chacha20(plain, key, iv));
  return writer.finish();
}
/** Behind the iv and a length of two or three bytes stands what was sealed. */
function unsealed(file) {
  for (const at of [9, 10, 11, 12]) {
    const plain = chacha20(file.subarray(at), key, iv);
    if (plain[0] === 0x7b || plain[0] === 0x6d) return plain;
  }
  throw new Error("not sealed so");
}

const bytes = (size, value = 1) => new Uint8Array(size).fill(value);
const pairOf = (value) => ({ pairSize: 2, key: bytes(32), value });
const { spendPublic, viewPublic } = parseAddress(wallets.a.address);
const entry = { original: bytes(0), amount: 5n, spendPublic, viewPublic, isSubaddress: 0, isIntegrated: 1 };
const { prefix } = readTransaction(recordedTransactions[0]);
const payment = {
  version: 1,
  prefix,
  amountIn: 1n,
  amountOut: 1n,
  change: 1n,
  destinations: [entry],
  paymentId: bytes(32),
  timestamp: 1n,
  account: 0,
  subaddressIndices: [0],
  rings: [pairOf([1n])],
};
const texts = { pairSize: 2, key: bytes(3, 65), value: bytes(4, 66) };
const cache = {
  version: 0,
  blocks: { version: 0, offset: 0n, genesis: bytes(32) },
  blockIds: [bytes(32)],
  transfers: [
    {
      height: 5n,
      prefix,
      txHash: bytes(32),
      outputIndex: 0n,
      globalIndex: 7n,
      spent: 0,
      frozen: 1,
      spentHeight: 0n,
      keyImage: bytes(32),
      mask: bytes(32),
      amount: 5n,
      rct: 1,
      keyImageKnown: 1,
      keyImageRequest: 0,
      keyIndex: 0n,
      subaddress: { major: 0, minor: 0 },
      keyImagePartial: 0,
      multisigNonces: [bytes(32)],
      uses: [],
      multisigInfos: [{ signer: bytes(32), nonces: [bytes(64)], partialKeyImages: [bytes(32)] }],
    },
  ],
  address: { spendPublic, viewPublic },
  keyImages: [pairOf(0n)],
  unconfirmed: [pairOf({ ...payment, sentTime: 9n, state: 1 })],
  payments: [],
  txKeys: [pairOf(bytes(32))],
  confirmed: [pairOf({ ...payment, height: 6n, unlockTime: 7n })],
  notes: [pairOf(bytes(5, 65))],
  poolPayments: [],
  oneTimeKeys: [],
  addressBook: [
    {
      version: 0,
      spendPublic,
      viewPublic,
      paymentId: bytes(8),
      description: bytes(3, 65),
      isSubaddress: 0,
      hasPaymentId: 1,
    },
  ],
  seenInPool: [],
  seenInPoolBefore: [],
  subaddresses: [],
  labels: [[bytes(2, 65)], []],
  additionalTxKeys: [pairOf([bytes(32)])],
  attributes: [texts],
  accountTags: { pairSize: 2, key: [texts], value: [bytes(3, 65)] },
  ringsSaved: 1,
  lastBlockReward: 3n,
  transactionsOnDevice: [],
  lastDeviceSync: 0n,
  coldKeyImages: [pairOf(bytes(32))],
  rpcClientKey: bytes(32),
};

const claim = {
  txHash: bytes(32),
  transaction: readTransaction(recordedTransactions[0]),
  address: parseAddress(wallets.a.address),
  message: bytes(1),
};

export const targets = {
  "keys-file-content": {
    async seeds() {
      const keys = keysOf(wallets.a);
      const settings = newSettings({ network: "mainnet", seedLanguage: "English", refreshHeight: 0 });
      const shared = {
        threshold: 1,
        signers: [keys.spendPublic, keys.viewPublic],
        roundsComplete: 1,
        shares: [keys.spendSecret],
        roundKeys: [],
      };
      const options = { ...runtime, password };
      const files = [
        { keys, createdAt: 1n, settings: new Map() },
        { keys: { ...keys, spendSecret: undefined }, createdAt: 1n, settings },
        { keys: { ...keys, multisig: shared }, createdAt: 1n, settings: new Map() },
      ];
      return Promise.all(
        files.map(async (file) => Buffer.from(unsealed(await writeKeysFile(file, options)))),
      );
    },
    refusals: [WrongPassword],
    run: (input) => readKeysFile(sealed(input), { ...runtime, password }),
  },
  "original-cache": {
    seeds: () => [Buffer.concat(Array.from(piecesOfCache(cache), (piece) => Buffer.from(piece)))],
    refusals: [BadBytes],
    async run(input) {
      const file = sealed(input);
      resealCache(file, { from: key, to: key, iv });
      const read = await readOriginalCache(file, key);
      const ledger = createLedger("mainnet", { seedLanguage: "", refreshFromHeight: 0 });
      const changes = takeOver(read, cacheId(file), { network: "mainnet", isViewOnly: true });
      for (const change of changes) applyChange(ledger, change);
    },
  },
  "multisig-set": {
    async seeds() {
      const metadata = await wallet["transfer-metadata"].seeds();
      return metadata.map((each) => Buffer.concat([Buffer.from([1]), each, Buffer.from([1]), bytes(32)]));
    },
    refusals: [BadBytes],
    run: (input) => encode(multisigKind.codec, decode(multisigKind.codec, input)),
  },
  "multisig-infos": {
    seeds: () => [
      Buffer.from([0]),
      encode(signerInfos, [
        { signer: bytes(32), nonces: [{ L: bytes(32), R: bytes(32) }], partialKeyImages: [bytes(32)] },
        { signer: bytes(32), nonces: [], partialKeyImages: [] },
      ]),
    ],
    refusals: [BadBytes],
    run: (input) => encode(signerInfos, decode(signerInfos, input)),
  },
  "set-description": {
    seeds: () => wallet["unsigned-set"].seeds(),
    refusals: [BadBytes, WalletRefusal],
    run(input) {
      const { transactions } = decode(unsignedKind.codec, input);
      describeSet(
        transactions.map((data) => ({ data })),
        "mainnet",
      );
      for (const data of transactions) {
        checkForm(data, unknownChain);
        for (const source of data.sources) ringOf(source);
      }
    },
  },
  "payment-proofs": {
    seeds: () =>
      text(`OutProofV2${"1".repeat(132)}`, `InProofV1${"1".repeat(264)}`, `SpendProofV1${"1".repeat(176)}`),
    refusals: [WalletRefusal, BadBytes, BadHex],
    async run(input) {
      const proof = input.toString("latin1");
      const rings = [{ keyImage: bytes(32), keys: [spendPublic, viewPublic] }];
      if (proof.startsWith("Spend")) await checkSpendProof({ ...claim, rings }, proof);
      else await checkPaymentProof(claim, proof);
    },
  },
  "wallet-json": {
    seeds: () =>
      text(
        `{"version":1,"filename":"w","scan_from_height":5,"password":"p","seed":"${wallets.a.mnemonic}"}`,
        `{"version":1,"filename":"w","viewkey":"${wallets.a.view_key}","spendkey":"${wallets.a.spend_key}"}`,
        `{"version":1,"filename":"w","address":"${wallets.a.address}","viewkey":"${wallets.a.view_key}"}`,
      ),
    refusals: [WalletRefusal],
    run: (input) => readWalletJson(input.toString("utf8"), "mainnet"),
  },
};
