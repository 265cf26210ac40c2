/** A page of a wallet's store that cannot be read while a change needs it. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createMemoryEngine, type Engine, openWalletStore } from "@anulo/store";
import type { WalletChange } from "../src/changes.ts";
import type { Daemon } from "../src/daemon.ts";
import { LedgerRows } from "../src/file/ledger-rows.ts";
import { ledgerTables } from "../src/file/ledger-tables.ts";
import { RowLog, writeRows } from "../src/file/row-log.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import { COLD_OUTPUTS } from "../src/outputs/cold-outputs.ts";
import { UnreadStore } from "../src/refusal.ts";
import { createRuntime } from "../src/runtime.ts";
import { Wallet } from "../src/wallet.ts";
import { bytes, payingTransaction } from "./many-outputs.ts";
import { plainState } from "./plain-state.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-unread-"));
after(() => rmSync(folder, { recursive: true }));
const network = "regtest";
const settings = { seedLanguage: "English", refreshFromHeight: 0 };
/** More pages than stay in memory. */
const OUTPUTS = 70 * COLD_OUTPUTS;

async function load(engine: Engine) {
  const options = { engine, wallet: Buffer.alloc(16, 1), tables: ledgerTables, folder };
  const opened = await openWalletStore({ ...options, wrappingKey: Buffer.alloc(32, 1) });
  if (opened.kind === "rolledBack") throw new Error("the store was rolled back");
  return opened.store;
}

function blocks(ledger: Ledger, transactions: Extract<WalletChange, { kind: "blocks" }>["transactions"]) {
  const { height: fromHeight, lastBlockReward } = ledger.state;
  return { kind: "blocks", fromHeight, count: 1, ids: [bytes(32)], lastBlockReward, transactions } as const;
}

test("a page that can't be read while a change is applied has the wallet refuse changes, and nothing of it is kept", async () => {
  let isReadable = true;
  const memory = createMemoryEngine();
  const engine: Engine = {
    ...memory,
    readNow: (id, row) => {
      if (!isReadable) throw new Error("bad sector");
      return memory.readNow!(id, row);
    },
  };
  const first = createLedger(network, settings);
  const paid = payingTransaction(1, 5n);
  const others = Array.from({ length: OUTPUTS }, () => payingTransaction(1, 5n));
  const written = await load(engine);
  const rows = LedgerRows.of(first);
  await writeRows(written, rows.take());
  const commitTo = (ledger: Ledger, log: RowLog) =>
    new Wallet({
      keys: createKeys(bytes),
      ledger,
      log,
      daemon: { close: () => undefined } as unknown as Daemon,
      runtime: createRuntime(),
    });
  const filling = commitTo(first, new RowLog(written, rows));
  await filling.commit(blocks(first, [paid, ...others]));
  const plain = plainState(first.state);
  await filling.close();

  const store = await load(engine);
  const { ledger, rows: loaded } = (await LedgerRows.load(store, { network, settings }))!;
  const wallet = commitTo(ledger, new RowLog(store, loaded));
  isReadable = false;
  // The same key again, with more: what it replaces has to be read.
  const again = {
    ...payingTransaction(2, 6n),
    received: [{ ...paid.received[0]!, amount: 6n, globalIndex: 99n }],
  };
  const quiet = wallet.commit(blocks(ledger, []));
  await quiet;
  await assert.rejects(wallet.commit(blocks(ledger, [payingTransaction(2, 7n), again])), UnreadStore);
  assert.equal(ledger.state.outputs.count, OUTPUTS + 2, "it was applied in part");
  isReadable = true;
  await assert.rejects(wallet.commit({ kind: "note", txHash: "00", note: "later" }), UnreadStore);
  assert.ok(wallet.unwritten?.error instanceof UnreadStore, "the service opens it again");
  // Blocks without transactions that still wait are written with the state as it is: not now.
  await wallet.close();

  const last = await load(engine);
  const { ledger: found } = (await LedgerRows.load(last, { network, settings }))!;
  assert.deepEqual(plainState(found.state), plain);
  await last.close();
  await engine.close();
});
