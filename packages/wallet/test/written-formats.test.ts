/**
 * What files and stores of wallets have is read by later releases: each of these hashes changes only with a new version
 * of its format, and a reader of the old one beside it, or with the changes that random-changes.ts makes up.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readCbor } from "../src/cbor.ts";
import type { WalletChange } from "../src/changes.ts";
import { decodeChange, encodeChange } from "../src/encode-change.ts";
import { Journal } from "../src/file/journal.ts";
import { LedgerRows } from "../src/file/ledger-rows.ts";
import { headTable } from "../src/file/ledger-tables.ts";
import { createStore } from "../src/file/store.ts";
import { readName, writeName } from "../src/file/store-name.ts";
import { readCopyFile, writeCopyFile } from "../src/file/wallet-copy-file.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import { KeyHash } from "../src/packed/place-index.ts";
import { Dice, nextChange } from "./random-changes.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-formats-"));
after(() => rmSync(folder, { recursive: true }));
const secret = new Uint8Array(32).fill(7);
/** A journal that was opened again and continued. */
const recorded = [
  "QU5VTE9XAARX2jxwfxjoTb448dNzSbV3LGmu8bh15QSnqxQV2VJo+eoAAAAAAAAAwOYydxEAAADm7+HJ3ONJ8VblythkwBMR",
  "Rsbq8enETS9pFocztUoX1LavOhEyEwAAAG0n6GPeu/n27a6QICe8uOOg5DTsZ71aHEymUPcFZs+zkvErauzkhCAAAIAC885s",
  "QexSdYbN8zyEWDYVEOCNF5bnIdDOXC6ndxqntxw1CEd0zaFBymTHk4fZX41UMUkBEgAAAAhAVNsRGw1Gw4InLsrtid1YQ/aZ",
  "NOTILfksJQgF6pcEHy7LgCM/",
].join("");
const hashOf = (...parts: readonly Uint8Array[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex").slice(0, 16);
};

/** A wallet after many changes of every kind, and these. */
function history(): { ledger: Ledger; changes: WalletChange[] } {
  const ledger = createLedger("regtest", { seedLanguage: "English", refreshFromHeight: 0 });
  const dice = new Dice("formats");
  const changes = Array.from({ length: 250 }, () => {
    const change = nextChange(dice, ledger);
    applyChange(ledger, change);
    return change;
  });
  return { ledger, changes };
}

test("changes in a journal, and the picture before them, are encoded as ever", async () => {
  const { ledger, changes } = history();
  const encoded = changes.map(encodeChange);
  assert.equal(hashOf(...encoded), "11135df728e97665");
  for (const [i, bytes] of encoded.entries()) assert.deepEqual(decodeChange(bytes), changes[i]);
  const options = { path: join(folder, "picture"), secret, network: "regtest" } as const;
  await (await createStore(options, ledger)).close();
  const { journal, records } = await Journal.open(options.path, secret);
  await journal.close();
  const names = new Map<number, string>();
  const [first] = records.map((record) => readCbor(record, names)) as unknown as [{ version: number }];
  assert.equal(first.version, 3);
  assert.equal(hashOf(...records), "63bf0b6389234925");
});

test("rows of a store are encoded as ever", async () => {
  const { puts } = await LedgerRows.of(history().ledger).takeAll();
  const hashes: Record<number, string> = {};
  const tables = new Map(puts.map(({ table }) => [table.number, table]));
  for (const table of tables.values()) {
    const rows = puts.filter((row) => row.table === table);
    hashes[table.number] = hashOf(...rows.flatMap(({ key, value }) => [key, value]));
  }
  const head = puts.filter(({ table }) => table === headTable);
  // It has the seeds of hashes, too, which are random.
  const { version } = readCbor(Buffer.concat(head.map(({ value }) => value))) as unknown as {
    version: number;
  };
  assert.equal(version, 3);
  delete hashes[headTable.number];
  assert.deepEqual(hashes, {
    4: "ed07a517b5d49531",
    5: "4fb87b450e3fe388",
    6: "05c4c229dbea2edf",
    7: "2e85071db606fd91",
    8: "59989d19fa484e46",
    9: "a173c0d0187b96d5",
    10: "45e2d08b3da43d8c",
    11: "1377ec6f2ae0b0a6",
    22: "ca440b6f37aed293",
    23: "2491596eb9ef3781",
    24: "b1ab87903b599b13",
    25: "5f3bf4eb727f7ba4",
    26: "e8c22b2a6485c110",
    27: "01fa95782ed677e1",
    28: "73fd28f748456e28",
    29: "af4fae97d306b1c1",
    30: "56bfdef843e7bdcf",
    31: "90bab465d61d10cf",
    40: "246ae74b27a3b1cd",
    41: "cc3d50c72706fa28",
    42: "b1868b2c98a240e8",
  });
});

test("a journal, a name and a copy of this release's making are read", async () => {
  const path = join(folder, "recorded");
  writeFileSync(path, Buffer.from(recorded, "base64"));
  const { journal, records, wasCut } = await Journal.open(path, secret);
  await journal.close();
  assert.deepEqual(
    records.map((each) => Buffer.from(each).toString()),
    ["what a wallet has", "and what came after", "under the next key"],
  );
  assert.equal(wasCut, false);
  const id = new Uint8Array(16).fill(9);
  await writeName(join(folder, "w.anulo"), id);
  const name = Buffer.from(`414e554c4f494401${"09".repeat(16)}`, "hex");
  assert.deepEqual(readFileSync(join(folder, "w.anulo")), name);
  assert.deepEqual(await readName(join(folder, "w.anulo")), id);
  const rows = [{ table: 3, key: Uint8Array.of(1, 2), value: new Uint8Array(5).fill(4) }];
  const pages = (async function* () {
    yield rows;
  })();
  const snapshot = { mark: { epoch: 5, sequence: 6 }, pages, close: async () => undefined };
  await writeCopyFile(join(folder, "w.rows"), id, snapshot);
  assert.equal(hashOf(readFileSync(join(folder, "w.rows"))), "c4b36b3bc7d103b0");
  assert.deepEqual((await readCopyFile(join(folder, "w.rows"))).mark, { epoch: 5, sequence: 6 });
});

test("hashes that are stored follow from their seed as ever", () => {
  const hash = new KeyHash();
  assert.equal(hash.seed.length, 8);
  hash.useSeed(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
  assert.deepEqual([hash.ofNumbers(1, 2), hash.ofNumbers(2 ** 32 - 1, 2 ** 31)], [2643946104, 3460069519]);
  const low = Uint8Array.of(9, 8, 7, 6, 5, 4, 3, 2, 250);
  const high = Uint8Array.of(255, 254, 253, 252, 251, 250, 249, 248);
  assert.deepEqual([hash.ofBytes(low, 1), hash.ofBytes(high, 0)], [116953134, 3638949069]);
  for (const length of [7, 9]) assert.throws(() => hash.useSeed(new Uint8Array(length)), RangeError);
});
