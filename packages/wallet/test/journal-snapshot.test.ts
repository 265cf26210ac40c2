/** What a journal holds when it is written anew: all of a wallet, in as many records as it takes. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createStore, openStore } from "../src/file/store.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { checkBook } from "./check-book.ts";
import { plainState } from "./plain-state.ts";
import { Dice, nextChange, scanned } from "./random-changes.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-snapshot-"));
after(() => rmSync(folder, { recursive: true }));
const settings = { seedLanguage: "English", refreshFromHeight: 0 };
const network = "regtest";
const secret = new Uint8Array(32).fill(7);

test("a journal written anew makes the wallet it was written of, with each of its lists", async () => {
  const dice = new Dice("snapshot");
  const ledger = createLedger(network, settings);
  for (let step = 0; step < 60; step++) applyChange(ledger, nextChange(dice, ledger));
  const scan = { refreshFromHeight: 0, accounts: 50, addresses: 200, skipsCoinbase: false };
  applyChange(ledger, { kind: "backgroundBegins", settings: scan });
  const fromHeight = ledger.state.height;
  const transactions = Array.from({ length: 9 }, () => scanned(dice, ledger, fromHeight));
  applyChange(ledger, {
    kind: "blocks",
    fromHeight,
    count: 1,
    ids: [dice.bytes()],
    lastBlockReward: 1n,
    transactions,
  });

  const { state } = ledger;
  const lists = [state.outputs.count, [...state.incoming].length, state.outgoing.size, state.intents.length];
  assert.ok(Math.min(...lists, state.background!.transactions.length) > 0, lists.join());
  const options = { path: join(folder, "w"), secret, network } as const;
  await (await createStore(options, ledger)).close();
  const opened = await openStore(options, settings);
  assert.deepEqual(plainState(opened.ledger.state), plainState(state));
  checkBook(opened.ledger.state.outputs);
  await opened.log.close();
});
