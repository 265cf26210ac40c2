import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Plain, writeCbor } from "../src/cbor.ts";
import type { WalletChange } from "../src/changes.ts";
import { DamagedJournal, Journal } from "../src/file/journal.ts";
import { createStore, openStore } from "../src/file/store.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger } from "../src/ledger/ledger.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-store-"));
after(() => rmSync(folder, { recursive: true }));
const settings = { seedLanguage: "English", refreshFromHeight: 0 };
const secret = new Uint8Array(32).fill(7);

/** A payment of two inputs and its keys, of the size such a one has. */
function payment(number: number): Extract<WalletChange, { kind: "outgoing" }> {
  const txHash = new Uint8Array(32);
  new DataView(txHash.buffer).setUint32(0, number);
  return {
    kind: "outgoing",
    txKeys: [new Uint8Array(32).fill(1)],
    payment: {
      txHash,
      state: "signed",
      blob: new Uint8Array(2200),
      amountIn: 5n,
      amountOut: 4n,
      change: 1n,
      destinations: [{ address: "4".repeat(95), amount: 3n }],
      paymentId: new Uint8Array(32),
      account: 0,
      subaddressIndices: [0],
      keyImages: [new Uint8Array(32), new Uint8Array(32)],
      unlockTime: 0n,
      createdAt: 1,
      timestamp: 1,
      height: 0,
    },
  };
}

test("a payment costs the same bytes in a wallet of 10,000 payments as in an empty one", async () => {
  const grownBy = async (payments: number): Promise<number> => {
    const options = { path: join(folder, `of-${payments}`), secret, network: "regtest" } as const;
    const ledger = createLedger("regtest", settings);
    for (let i = 0; i < payments; i++) applyChange(ledger, payment(i));
    const log = await createStore(options, ledger);
    const before = statSync(options.path).size;
    await log.append(payment(payments));
    await log.append({ kind: "outgoingState", txHash: "00".repeat(32), state: "pending" });
    await log.close();
    return statSync(options.path).size - before;
  };
  const [few, many] = [await grownBy(0), await grownBy(10_000)];
  assert.ok(Math.abs(many - few) < 16, `${few} bytes, then ${many}`);
  assert.ok(many < 4096, `${many} bytes`);
});

test("a store under the secret of earlier versions is written anew under the one of today", async () => {
  const path = join(folder, "former");
  const [former, today] = [secret, new Uint8Array(32).fill(8)];
  const log = await createStore(
    { path, secret: former, network: "regtest" },
    createLedger("regtest", settings),
  );
  await log.append({ kind: "attribute", key: "k", value: "kept" });
  await log.close();
  const options = { path, secret: today, formerSecret: former, network: "regtest" } as const;
  for (let times = 0; times < 2; times++) {
    const opened = await openStore(options, settings);
    assert.equal(opened.ledger.state.attributes.get("k"), "kept");
    await opened.log.close();
    await assert.rejects(openStore({ ...options, secret: former }, settings), DamagedJournal);
  }
  const stranger = { ...options, secret: new Uint8Array(32), formerSecret: new Uint8Array(32).fill(1) };
  await assert.rejects(openStore(stranger, settings), DamagedJournal);
});

test("after a record that was cut short the store gets another key: its nonce has been used", async () => {
  const options = { path: join(folder, "cut"), secret, network: "regtest" } as const;
  const log = await createStore(options, createLedger("regtest", settings));
  await log.append({ kind: "attribute", key: "k", value: "kept" });
  await log.append({ kind: "attribute", key: "k", value: "cut" });
  const asKilled = readFileSync(options.path);
  await log.close();
  const salt = () => readFileSync(options.path).subarray(8, 40);
  const before = salt();
  const whole = await openStore(options, settings);
  await whole.log.close();
  assert.deepEqual(salt(), before);
  writeFileSync(options.path, asKilled.subarray(0, -1));
  const { ledger, log: again } = await openStore(options, settings);
  assert.equal(ledger.state.attributes.get("k"), "kept");
  assert.notDeepEqual(salt(), before);
  await again.append({ kind: "attribute", key: "k", value: "new" });
  await again.close();
  const last = await openStore(options, settings);
  assert.equal(last.ledger.state.attributes.get("k"), "new");
  await last.log.close();
});

test("a store that must be written anew and can't be is read all the same, and takes nothing", async () => {
  const options = { path: join(folder, "full"), secret, network: "regtest" } as const;
  const log = await createStore(options, createLedger("regtest", settings));
  await log.append({ kind: "attribute", key: "k", value: "kept" });
  await log.close();
  writeFileSync(options.path, Buffer.concat([readFileSync(options.path), Buffer.alloc(5)]));
  // What cannot be opened for writing.
  mkdirSync(`${options.path}.new`);
  const opened = await openStore(options, settings);
  assert.equal(opened.ledger.state.attributes.get("k"), "kept");
  await assert.rejects(opened.log.append({ kind: "attribute", key: "k", value: "x" }), { code: "EISDIR" });
  await opened.log.close();
});

test("a journal of a newer release is refused by its format, and stays as it is", async () => {
  const path = join(folder, "newer");
  for (const [version, reason] of [
    [4, /written by a newer release \(format 4, this one reads up to 3\)/],
    [0, /a format that does not exist: 0/],
    [Number.NaN, /a format that does not exist: NaN/],
  ] as const) {
    const state = { kind: "state", version, state: { network: "regtest" } };
    await (await Journal.create(path, secret, [writeCbor(state as unknown as Plain)])).close();
    const before = readFileSync(path);
    const options = { path, secret, network: "regtest" } as const;
    await assert.rejects(openStore(options, settings), (error) => {
      assert.ok(error instanceof DamagedJournal);
      assert.match(error.message, reason);
      return true;
    });
    assert.deepEqual(readFileSync(path), before);
    rmSync(path);
  }
});
