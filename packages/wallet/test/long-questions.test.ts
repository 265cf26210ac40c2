/** Questions of one call that are many, or the same. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { toHex } from "@anulo/protocol";
import { CachedFacts } from "../src/cached-facts.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createAccount, createLedger } from "../src/ledger/ledger.ts";
import { accountHandlers } from "../src/rpc/accounts.ts";
import { historyHandlers } from "../src/rpc/history.ts";
import type { WalletContext } from "../src/service.ts";
import { idOf, largeLedger } from "./large-history.ts";

type Answer = { readonly [field: string]: { readonly length: number; at(place: number): unknown } };

async function ask(name: string, wallet: object, params: object): Promise<Answer> {
  const { handler } = [...historyHandlers, ...accountHandlers].find(({ call }) => call.name === name)!;
  const context = { opened: { wallet } } as unknown as WalletContext;
  return await (handler as (params: object, context: WalletContext) => Promise<Answer>)(params, context);
}

test("payments that are asked for a thousand times are found and held once", async (t) => {
  const { state } = largeLedger({ receipts: 500, payments: 0 });
  const matching = t.mock.method(state.incoming, "matching");
  const placesWithId = t.mock.method(state.incoming, "placesWithId");
  const selected = t.mock.method(state.incoming, "selected");
  const wallet = {
    state,
    prepareAddresses: async () => undefined,
    now: () => ({ network: "regtest", height: state.height, seconds: 1_800_000_000 }),
    addressOf: () => "",
  };
  const id = toHex(idOf("id 4").subarray(0, 8));
  const once = { payment_ids: [id, "0".repeat(16)], min_block_height: 0 };
  const { payments } = await ask("get_bulk_payments", wallet, once);
  assert.equal(payments!.length, 251);
  const before = [matching, placesWithId, selected].map(({ mock }) => mock.callCount());
  const repeated = Array.from({ length: 1000 }, () => [id.toUpperCase(), "0".repeat(64)]).flat();
  const all = await ask("get_bulk_payments", wallet, { payment_ids: repeated, min_block_height: 0 });
  assert.equal(all.payments!.length, 251 * 1000);
  assert.deepEqual(
    [matching, placesWithId, selected].map(({ mock }) => mock.callCount()),
    before.map((count) => 2 * count),
  );
  const textAt = (place: number) => (all.payments!.at(place) as { payment_id: string }).payment_id;
  assert.deepEqual([textAt(0), textAt(251)], [id.toUpperCase(), id.toUpperCase()]);
});

test("many notes are stored some at a time, all of them", async () => {
  const notes = new Map<string, string>();
  let [waiting, most] = [0, 0];
  const commit = async ({ txHash, note }: { readonly txHash: string; readonly note: string }) => {
    waiting += 1;
    most = Math.max(most, waiting);
    await setImmediate();
    waiting -= 1;
    notes.set(txHash, note);
  };
  const txids = Array.from({ length: 1000 }, (_, i) => toHex(idOf(`tx ${i}`)));
  const texts = txids.map((_, i) => `note ${i}`);
  await ask(
    "set_tx_notes",
    { commit, texts: { during: (_: number, store: () => Promise<unknown>) => store() } },
    { txids, notes: texts },
  );
  assert.ok(most <= 256, `${most} at once`);
  const kept = await ask("get_tx_notes", { state: { notes } }, { txids: [...txids, "f".repeat(64)] });
  assert.deepEqual(kept.notes, [...texts, ""]);
});

/** A ledger of 301 accounts, each with a tag of its own but the first, whose tag counts how repeated it is read. */
function taggedLedger() {
  const ledger = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
  const { accounts, accountTags } = ledger.state;
  for (let i = 1; i <= 300; i++) {
    accounts.push({ ...createAccount(`account ${i}`), tag: `tag ${i}` });
    accountTags.set(`tag ${i}`, "");
  }
  let reads = 0;
  const get = () => {
    reads += 1;
    return "";
  };
  Object.defineProperty(accounts[0]!, "tag", { get });
  return { ledger, reads: () => reads };
}

test("tags are looked for in each account once, not once for each tag", async () => {
  const { ledger, reads } = taggedLedger();
  applyChange(ledger, { kind: "tag", accounts: [5, 7], tag: "other" });
  assert.ok(reads() <= 2, `${reads()} reads`);
  assert.equal(ledger.state.accountTags.size, 299);
  const before = reads();
  const tags = (await ask("get_account_tags", { state: ledger.state }, {})).account_tags!;
  assert.ok(reads() - before <= 2);
  assert.deepEqual(tags.at(0), { tag: "other", label: "", accounts: [5, 7] });
  assert.deepEqual([tags.length, tags.at(1)], [299, { tag: "tag 1", label: "", accounts: [1] }]);
});

test("very many addresses are listed with pauses, all of them", async () => {
  const { state } = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
  const { addresses } = state.accounts[0]!;
  while (addresses.length < 10_000) addresses.push({ label: `label ${addresses.length}` });
  // Reading this one takes longer than a turn may.
  const get = () => {
    const end = performance.now() + 50;
    while (performance.now() < end);
    return "slow";
  };
  Object.defineProperty(addresses[100], "label", { get });
  const wallet = {
    state,
    facts: new CachedFacts(() => state),
    prepareAddresses: async () => undefined,
    addressOf: ({ minor }: { readonly minor: number }) => `address ${minor}`,
  };
  const few = await ask("get_address", wallet, { account_index: 0, address_index: [7, 5] });
  const asked = ask("get_address", wallet, { account_index: 0, address_index: [] });
  let isOver = false;
  const over = asked.finally(() => {
    isOver = true;
  });
  // Whatever needs no turn of the event loop has ended by then.
  for (let i = 0; i < 1000; i++) await Promise.resolve();
  assert.ok(!isOver, "nothing else came to its turn");
  const answer = await over;
  const factsOf = (lasting: Answer) => (lasting as unknown as { readonly facts: Answer }).facts;
  const [all, some] = [answer, few].map((lasting) => factsOf(lasting).addresses!);
  assert.deepEqual([all!.length, some!.length], [10_000, 2]);
  const entry = { address: "address 5", address_index: 5, label: "label 5", used: false };
  assert.deepEqual([some!.at(1), all!.at(5)], [entry, entry]);
  const wrong = { account_index: 0, address_index: [...Array(5000).keys(), 10_000] };
  await assert.rejects(ask("get_address", wallet, wrong), /address index is out of bound/);
});

test("addresses of many accounts are computed with pauses before they are listed", async () => {
  const { ledger } = taggedLedger();
  const prepared = new Set<number>();
  const wallet = {
    state: ledger.state,
    now: () => ({ network: "regtest", height: 1, seconds: 0 }),
    indexOf: () => undefined,
    prepareAddresses: async (indices: Iterable<{ readonly major: number }>) => {
      for (const { major } of indices) prepared.add(major);
    },
    addressOf: ({ major }: { readonly major: number }) => {
      assert.ok(prepared.has(major));
      return `address ${major}`;
    },
  };
  const params = { tag: "", regexp: false, strict_balances: false };
  const accounts = (await ask("get_accounts", wallet, params)).subaddress_accounts!;
  assert.equal(accounts.length, 301);
  const { base_address, tag, label } = accounts.at(300) as Record<string, unknown>;
  assert.deepEqual([base_address, tag, label], ["address 300", "tag 300", "account 300"]);
});
