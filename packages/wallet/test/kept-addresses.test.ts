/** What a wallet recognises its addresses by is computed once, and believed again only where it fits. */
import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { KeptAddresses } from "../src/file/kept-addresses.ts";
import { addressesFileOf, pathsOfFile } from "../src/file/wallet-files.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { KeyHashes } from "../src/outputs/key-set.ts";
import type { SubaddressIndex } from "../src/outputs/owned-output.ts";
import { AddressMarks, reserveMarks } from "../src/scan/address-marks.ts";
import type { Lookahead } from "../src/scan/address-runs.ts";
import { type KeptMarks, readMarks, writeMarks } from "../src/scan/kept-marks.ts";
import type { FromWorker } from "../src/scan/messages.ts";
import { NodeFeeds } from "../src/scan/node-feed.ts";
import { WalletScan } from "../src/scan/wallet-scan.ts";
import { checkSameAddresses } from "./same-addresses.ts";
import { startTestService } from "./service.ts";
import { seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("kept addresses");
const keys = createKeys(random);
const lookahead = { accounts: 3, addresses: 40 };
const first = [{ major: 0, minor: 0 }];

function tableOf(used: readonly SubaddressIndex[], reach: Lookahead = lookahead): AddressMarks {
  const table = new AddressMarks(keys, reach, reserveMarks(used, reach));
  for (const index of used)
    for (const { major, fromMinor, toMinor } of table.missingFor(index))
      table.extend({ major, fromMinor, count: toMinor - fromMinor });
  return table;
}

function tableFrom({ marks, ranges }: KeptMarks): AddressMarks {
  const table = new AddressMarks(keys, lookahead, marks);
  for (const range of ranges) table.adopt(range, undefined);
  return table;
}

test("kept marks recognise the same addresses, also in a table that has grown, and grow on", () => {
  const inUse = [
    { major: 0, minor: 5 },
    { major: 1, minor: 90 },
    { major: 2, minor: 0 },
    { major: 3, minor: 1 },
  ];
  // As it grows while the wallet is open, and as it is made at once.
  for (const whole of [tableOf([...first, ...inUse]), tableOf(inUse)]) {
    const kept = readMarks(writeMarks(whole), inUse, lookahead);
    assert.ok(kept !== undefined);
    const table = tableFrom(kept);
    assert.equal(table.size, whole.size);
    checkSameAddresses(table, whole);
    for (const index of [...inUse, { major: 9, minor: 70 }])
      assert.deepEqual(table.missingFor(index), whole.missingFor(index));
  }
});

test("marks of fewer addresses are completed", () => {
  const inUse = [...first, { major: 1, minor: 30 }];
  const kept = readMarks(writeMarks(tableOf(first)), inUse, lookahead);
  assert.ok(kept !== undefined);
  const table = tableFrom(kept);
  for (const { major, fromMinor, toMinor } of table.missingFor(inUse[1]!)) {
    const replaced = table.extend({ major, fromMinor, count: toMinor - fromMinor });
    assert.equal(replaced, undefined, "the memory is large enough");
  }
  const whole = tableOf(inUse);
  for (const { key, index } of whole.entries()) assert.deepEqual(table.indexOf(key), index);
  assert.equal(table.size, whole.size);
});

test("marks that don't fit are not believed", () => {
  const bytes = writeMarks(tableOf(first));
  assert.ok(readMarks(bytes, first, lookahead) !== undefined);
  const refused = (
    some: Uint8Array,
    used: readonly SubaddressIndex[] = first,
    reach: Lookahead = lookahead,
  ) => assert.equal(readMarks(some, used, reach), undefined);
  // Another look-ahead, also where it covers more.
  for (const [accounts, addresses] of [
    [2, 40],
    [3, 39],
    [4, 40],
    [3, 41],
  ])
    refused(bytes, first, { accounts: accounts!, addresses: addresses! });
  // More addresses than the wallet recognises by its look-ahead.
  refused(writeMarks(tableOf([...first, { major: 0, minor: 1 }])));
  refused(writeMarks(tableOf([...first, { major: 1, minor: 0 }])));
  for (let length = 0; length < bytes.length; length += length < 64 ? 1 : 977)
    refused(bytes.subarray(0, length));
  refused(Buffer.concat([bytes, new Uint8Array(2)]));
  // Version, look-ahead, number of ranges; the ranges.
  for (let place = 0; place < 4 + 3 * 3; place++)
    for (const value of [0, 1, 2, 39, 41, 0x7fff_ffff, 0xffff_ffff]) {
      const other = bytes.slice();
      const view = new DataView(other.buffer);
      if (view.getUint32(4 * place, true) === value) continue;
      view.setUint32(4 * place, value, true);
      refused(other);
    }
});

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "anulo-addresses-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const stateOf = (counts: readonly number[]) => ({
  accounts: counts.map((count) => ({
    tag: "",
    addresses: Array.from({ length: count }, () => ({ label: "" })),
  })),
});

test("the file is sealed for the wallet's keys; any other, or one that was changed, counts as none", async (t) => {
  const paths = pathsOfFile(join(folderOf(t), "w"));
  const path = addressesFileOf(paths);
  const state = stateOf([1]);
  const read = async (of = keys) => {
    const file = new KeptAddresses(paths, of);
    const kept = await file.read(state, lookahead);
    await file.close();
    return kept;
  };
  assert.equal(await read(), undefined);
  const table = tableOf(first);
  const file = new KeptAddresses(paths, keys);
  await file.write({ subaddresses: table });
  const image = readFileSync(path);
  await file.write({ subaddresses: table });
  assert.deepEqual(readFileSync(path), image, "written only where there is more");
  await file.close();
  const kept = await read();
  assert.deepEqual([...tableFrom(kept!).entries()], [...table.entries()]);
  for (const part of [table.kept.marks.subarray(4096), keys.viewSecret, keys.spendPublic])
    assert.equal(image.indexOf(Buffer.from(part.buffer, part.byteOffset, 16)), -1);
  assert.equal(await read({ ...keys, viewSecret: createKeys(random).viewSecret }), undefined);
  assert.equal(await read({ ...keys, spendPublic: createKeys(random).spendPublic }), undefined);
  for (const at of [0, 31, 32, 47, 48, image.length - 1]) {
    const other = Buffer.from(image);
    other[at]! ^= 1;
    writeFileSync(path, other);
    assert.equal(await read(), undefined);
  }
  for (const length of [0, 20, 47, 48, image.length - 1]) {
    writeFileSync(path, image.subarray(0, length));
    assert.equal(await read(), undefined);
  }
  await file.write({ subaddresses: tableOf([...first, { major: 0, minor: 9 }]) });
  assert.equal((await read())?.ranges, undefined, "a closed wallet writes nothing");
});

test("a scan thread computes what is missing only", async () => {
  const sent = async (ranges: readonly { major: number; fromMinor: number; count: number }[]) => {
    const messages: FromWorker[] = [];
    const scan = new WalletScan((message) => messages.push(message), new NodeFeeds());
    const marks = readMarks(writeMarks(tableOf(first)), first, lookahead)!.marks;
    const imageFactors = new KeyHashes(randomFillSync).factors;
    const settings = { keys, used: first, lookahead, skipsCoinbase: false, imageFactors };
    scan.receive({ kind: "open", ...settings, marks, ranges });
    while (!messages.some(({ kind }) => kind === "done")) await new Promise((next) => setImmediate(next));
    return messages.map(({ kind }) => kind);
  };
  assert.deepEqual(await sent(tableOf(first).kept.ranges), ["done"]);
  assert.deepEqual(await sent([]), ["range", "range", "range", "done"]);
});

test("a wallet leaves the file, and recognises by it what it recognised before", async (t) => {
  const { call, folder } = await startTestService({}, t);
  await call.createWallet({ filename: "w", language: "English" });
  const seen = async () => {
    const { subaddress_accounts } = await call.getAccounts({});
    const { addresses } = await call.getAddress({ account_index: 0 });
    return { subaddress_accounts, addresses };
  };
  await call.createAddress({ account_index: 0, count: 3 });
  await call.createAccount({});
  const before = await seen();
  const indices = await Promise.all(before.addresses.map(({ address }) => call.getAddressIndex({ address })));
  await call.closeWallet({});
  const path = addressesFileOf(pathsOfFile(join(folder, "w")));
  const image = readFileSync(path);
  await call.openWallet({ filename: "w" });
  assert.deepEqual(await seen(), before);
  assert.deepEqual(
    await Promise.all(before.addresses.map(({ address }) => call.getAddressIndex({ address }))),
    indices,
  );
  await call.closeWallet({});
  assert.deepEqual(readFileSync(path), image);
  // Without it all is as before.
  rmSync(path);
  await call.openWallet({ filename: "w" });
  assert.deepEqual(await seen(), before);
  while (!existsSync(path)) await delay(10);
  await call.closeWallet({});
});
