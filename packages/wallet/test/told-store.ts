/** Ledgers in a store whose events are told, as the service opens them. */
import { type Engine, openWalletStore, type WalletStore } from "@anulo/store";
import type { Follower } from "../src/events/follower.ts";
import { LedgerRows } from "../src/file/ledger-rows.ts";
import { ledgerTables } from "../src/file/ledger-tables.ts";
import { OutboxRows } from "../src/file/outbox-rows.ts";
import { finishRows, RowLog, writeRows } from "../src/file/row-log.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";

const settings = { seedLanguage: "", refreshFromHeight: 0 };
const network = "regtest";

export type Opened = {
  readonly ledger: Ledger;
  readonly store: WalletStore;
  readonly log: RowLog;
};

/** Where a wallet is: `folder` is that of its keys. */
export type Where = { readonly engine: Engine; readonly wallet: Uint8Array; readonly folder: string };

export async function openRows({ engine, wallet, folder }: Where): Promise<WalletStore> {
  const wrappingKey = Buffer.alloc(32, 1);
  const opened = await openWalletStore({ engine, wallet, tables: ledgerTables, wrappingKey, folder });
  if (opened.kind === "rolledBack") throw new Error("the store was rolled back");
  return opened.store;
}

/** Opens a wallet, which is created where it is missing, with room for so many events. */
export async function openTold(where: Where, follower?: Follower, room?: number): Promise<Opened> {
  const store = await openRows(where);
  await finishRows(store);
  const loaded = await LedgerRows.load(store, { network, settings });
  const ledger = loaded?.ledger ?? createLedger(network, settings);
  const rows = loaded?.rows ?? LedgerRows.of(ledger, new OutboxRows(room));
  follower?.useOutbox(rows.outbox);
  await follower?.begin(ledger);
  if (loaded === undefined) await writeRows(store, await rows.takeAll());
  return { ledger, store, log: new RowLog(store, rows) };
}
