/** Outputs that are imported are read, and enter the wallet, some at a time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { derivePublicKey, generateKeyDerivation, publicKeyOf } from "@anulo/crypto";
import { BadBytes, concatBytes, encode } from "@anulo/protocol";
import { importOutputs } from "../src/actions/cold-exchange.ts";
import { type ExportedOutput, exportedOutputs, readExported } from "../src/cold-signing/exported-outputs.ts";
import type { Daemon } from "../src/daemon.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { closeRuntime, createRuntime } from "../src/runtime.ts";
import { Wallet } from "../src/wallet.ts";
import { ended } from "./ended.ts";
import { seededRandom } from "./transfer-fixture.ts";

const TOTAL = 600;
const keys = createKeys(seededRandom("imports"));

/** Outputs of one transaction, paid to the first address. */
function exported(): ExportedOutput[] {
  const txSecret = new Uint8Array(32).fill(7);
  txSecret[31] = 1;
  const derivation = generateKeyDerivation(publicKeyOf(txSecret), keys.viewSecret);
  return Array.from({ length: TOTAL }, (_, outputIndex) => ({
    version: 1,
    oneTimeKey: derivePublicKey(derivation, outputIndex, keys.spendPublic),
    outputIndex,
    globalIndex: BigInt(outputIndex),
    txPublicKey: publicKeyOf(txSecret),
    flags: 4,
    amount: 5n,
    additionalTxPublicKeys: [],
    account: 0,
    address: 0,
  }));
}
const outputs = exported();

/** A wallet without files; `onChange` is told the number of outputs that each change imports. */
function open(onChange: (wallet: Wallet, imported: number) => void) {
  const ledger = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
  const runtime = createRuntime({ concurrency: 0 });
  const log = {
    append: async (change: { kind: string; outputs?: unknown }) => {
      if (change.kind === "importedOutputs") onChange(wallet, (change.outputs as unknown[]).length);
    },
    refuse: () => undefined,
    close: async () => undefined,
  };
  const daemon = { close: () => undefined } as unknown as Daemon;
  const wallet: Wallet = new Wallet({ keys: structuredClone(keys), ledger, log, daemon, runtime });
  return { wallet, close: () => closeRuntime(runtime) };
}

test("outputs are imported some hundred at a time, and again without effect", async () => {
  const sizes: number[] = [];
  const { wallet, close } = open((_, imported) => sizes.push(imported));
  for (let times = 0; times < 2; times++) {
    assert.equal(await importOutputs(wallet, { offset: 0, total: TOTAL, outputs }), TOTAL);
    assert.deepEqual(sizes.splice(0), [256, 256, 88]);
    assert.deepEqual(
      Array.from(wallet.state.outputs, ({ outputIndex }) => outputIndex),
      outputs.map(({ outputIndex }) => outputIndex),
    );
    assert.equal(wallet.state.requestedFrom, 0);
  }
  // Fewer: what an earlier import had beyond them is no longer there.
  const some = { offset: 0, total: 300, outputs: outputs.slice(0, 300) };
  assert.equal(await importOutputs(wallet, some), 300);
  await wallet.close();
  await close();
});

test("an import ends where a scan has begun meanwhile, and keeps what it has", async () => {
  const { wallet, close } = open(() => {
    const scanned = { count: 5, ids: [], lastBlockReward: 1n, transactions: [] };
    if (!wallet.hasScanned) void wallet.commit({ kind: "blocks", fromHeight: wallet.height, ...scanned });
  });
  await assert.rejects(importOutputs(wallet, { offset: 0, total: TOTAL, outputs }), WalletRefusal);
  assert.equal(wallet.state.outputs.count, 256);
  await wallet.close();
  await close();
});

test("exported outputs are read one by one, and nothing may follow them", () => {
  const bytes = encode(exportedOutputs, { offset: 3, total: TOTAL, outputs });
  let steps = 0;
  for (const _ of readExported(bytes)) steps += 1;
  assert.equal(steps, TOTAL);
  assert.deepEqual(ended(readExported(bytes)), { offset: 3, total: TOTAL, outputs });
  assert.throws(() => ended(readExported(concatBytes(bytes, Uint8Array.of(0)))), BadBytes);
  assert.throws(() => ended(readExported(bytes.subarray(0, -1))), BadBytes);
});
