/** When a journal is written anew as it is opened, and when it is left as it is. */
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Plain, readCbor, writeCbor } from "../src/cbor.ts";
import type { WalletChange } from "../src/changes.ts";
import { DamagedJournal, Journal } from "../src/file/journal.ts";
import { createStore, openStore, prepareNextStore, settleNextStore } from "../src/file/store.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { ledgerOf } from "./many-outputs.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-rewrites-"));
after(() => rmSync(folder, { recursive: true }));
const settings = { seedLanguage: "English", refreshFromHeight: 0 };
const secret = new Uint8Array(32).fill(7);
let count = 0;
const newOptions = () => ({ path: join(folder, `s${count++}`), secret, network: "regtest" as const });
const fresh = () => createLedger("regtest", settings);
const note = (length: number): WalletChange => ({ kind: "note", txHash: "aa", note: "n".repeat(length) });

async function recordsOf({ path }: { readonly path: string }): Promise<Uint8Array[]> {
  const { journal, records } = await Journal.open(path, secret);
  await journal.close();
  return records;
}

/** Opens a store and closes it; returns whether it was written anew. */
async function isReplaced(options: ReturnType<typeof newOptions>): Promise<boolean> {
  const before = readFileSync(options.path).subarray(0, 40);
  const { log } = await openStore(options, settings);
  await log.close();
  return !before.equals(readFileSync(options.path).subarray(0, 40));
}

test("changes may be a quarter of a MiB longer than the picture before them", async () => {
  const slack = 256 * 1024;
  const pictureOf = async () => {
    const options = newOptions();
    await (await createStore(options, fresh())).close();
    const picture = (await recordsOf(options)).reduce((sum, { length }) => sum + length, 0);
    return { options, picture };
  };
  const encodedSize = (length: number) => writeCbor(note(length) as unknown as Plain).length;
  for (const [more, expected] of [
    [-1, false],
    [0, true],
  ] as const) {
    const { options, picture } = await pictureOf();
    const wanted = picture + slack + more;
    const length = wanted - (encodedSize(70_000) - 70_000);
    assert.equal(encodedSize(length), wanted);
    const { log } = await openStore(options, settings);
    await log.append(note(length));
    await log.close();
    assert.equal(await isReplaced(options), expected);
    const { ledger, log: again } = await openStore(options, settings);
    await again.close();
    assert.equal(ledger.state.notes.get("aa")!.length, length);
    assert.equal(await isReplaced(options), false);
  }
});

test("a journal of an earlier format is written anew, and one of a later format is refused", async () => {
  const options = newOptions();
  await (await createStore(options, fresh())).close();
  const [first] = await recordsOf(options);
  const picture = readCbor(first!) as unknown as { version: number };
  for (const [version, expected] of [
    [1, true],
    [2, true],
    [3, false],
  ] as const) {
    const other = newOptions();
    const record = writeCbor({ ...picture, version } as unknown as Plain);
    await (await Journal.create(other.path, secret, [record])).close();
    assert.equal(await isReplaced(other), expected, `version ${version}`);
  }
  for (const version of [0, 4]) {
    const other = newOptions();
    const record = writeCbor({ ...picture, version } as unknown as Plain);
    await (await Journal.create(other.path, secret, [record])).close();
    await assert.rejects(openStore(other, settings), DamagedJournal);
  }
});

test("a wallet of another network, or with a change that is not known, is refused", async () => {
  const options = newOptions();
  const log = await createStore(options, fresh());
  await assert.rejects(openStore({ ...options, network: "mainnet" }, settings), /of another network/);
  await log.append({ kind: "invented" } as unknown as WalletChange);
  await log.close();
  await assert.rejects(openStore(options, settings), /a change that is not known: invented/);
});

test("a picture has 200 outputs a record, and a record of its own for what is left", async () => {
  for (const [outputs, sizes] of [
    [0, []],
    [199, [199]],
    [200, [200]],
    [201, [200, 1]],
  ] as const) {
    const options = newOptions();
    const ledger = ledgerOf({ count: outputs, amount: () => 1n, addresses: 1 });
    await (await createStore(options, ledger)).close();
    const names = new Map<number, string>();
    const records = (await recordsOf(options)).map((record) => readCbor(record, names)) as unknown as {
      of?: string;
      items?: unknown[];
    }[];
    assert.deepEqual(
      records.filter(({ of }) => of === "outputs").map(({ items }) => items!.length),
      sizes,
    );
    const { ledger: again, log } = await openStore(options, settings);
    await log.close();
    assert.deepEqual([...again.state.outputs], [...ledger.state.outputs]);
  }
});

test("the next store counts once it opens with these keys, and is removed where it does not", async () => {
  const options = newOptions();
  await (await createStore(options, fresh())).close();
  await settleNextStore(options);
  const next = fresh();
  applyChange(next, note(3));
  await prepareNextStore(options, next);
  const prepared = readFileSync(`${options.path}.next`);
  const before = readFileSync(options.path);
  await settleNextStore({ ...options, secret: new Uint8Array(32).fill(8) });
  assert.deepEqual(readFileSync(options.path), before);
  assert.throws(() => readFileSync(`${options.path}.next`), { code: "ENOENT" });
  await prepareNextStore(options, next);
  copyFileSync(`${options.path}.next`, `${options.path}.copy`);
  await settleNextStore(options);
  assert.notDeepEqual(readFileSync(options.path), before);
  assert.equal(readFileSync(options.path).length, prepared.length);
  assert.throws(() => readFileSync(`${options.path}.next`), { code: "ENOENT" });
  // A store under the secret of earlier versions counts, too.
  copyFileSync(`${options.path}.copy`, `${options.path}.next`);
  await settleNextStore({ ...options, secret: new Uint8Array(32).fill(8), formerSecret: secret });
  assert.throws(() => readFileSync(`${options.path}.next`), { code: "ENOENT" });
  const { ledger, log } = await openStore(options, settings);
  await log.close();
  assert.equal(ledger.state.notes.get("aa"), "nnn");
});
