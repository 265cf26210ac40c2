import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { checkDatabase } from "@anulo/node";
import {
  call,
  type EarlierFiles,
  type Exact,
  layOutEarlierFiles,
  startDaemon,
  startWallet,
} from "@anulo/testkit";

let folder: string;
let files: EarlierFiles;
let programs: { stop(): Promise<unknown> }[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "anulo-upgrade-"));
  files = layOutEarlierFiles(folder);
  programs = [];
});
// Programs write to the folder until they have stopped.
afterEach(async () => {
  for (const program of programs.toReversed()) await program.stop();
  rmSync(folder, { recursive: true, force: true });
});

const ours = { kind: "ours" } as const;

async function startNode(extra: readonly string[] = []) {
  const node = await startDaemon(ours, { dataDir: files.dataDir, extra });
  programs.push(node);
  const mine = (amount_of_blocks: number) =>
    call(node.url, "generateblocks", { amount_of_blocks, wallet_address: files.alice });
  return { ...node, mine };
}

async function startService(daemonPort: number) {
  const service = await startWallet(ours, { walletDir: files.walletDir, daemonPort });
  programs.push(service);
  const ask = (method: string, params: Exact = {}) => call(service.url, method, params);
  const open = (filename: string) => ask("open_wallet", { filename, password: files.password });
  const balance = async () => {
    const { balance, unlocked_balance } = await ask("get_balance", { account_index: 0 });
    return [String(balance), String(unlocked_balance)];
  };
  return { ask, open, balance };
}

test("the database of commit 15bd640 is in order for today's check, and its node goes on with it", async () => {
  const path = join(files.dataDir, "regtest/chain.mdb");
  const found = await checkDatabase({ path, network: "regtest" });
  assert.deepEqual(found, { blocks: 93, transactions: 94, outputs: 95, keyImages: 2 });
  const node = await startNode(["--keep-alt-blocks"]);
  const info = async () => {
    const { height, top_block_hash, tx_pool_size, alt_blocks_count } = await call(node.url, "get_info");
    return [height, top_block_hash, tx_pool_size, alt_blocks_count].map(String);
  };
  assert.deepEqual(await info(), [`${files.height}`, files.top, "1", "1"]);
  await node.mine(2);
  const [height, , waiting] = await info();
  assert.deepEqual([height, waiting], [`${files.height + 2}`, "0"]);
  await node.stop();
  assert.equal((await checkDatabase({ path, network: "regtest" })).blocks, files.height + 2);
});

test("a database of schema 2 is in order for today's check once it is migrated", async () => {
  const schema2 = new URL("../../../packages/storage/test/fixtures/schema-2.mdb.br", import.meta.url);
  const path = join(folder, "chain.mdb");
  writeFileSync(path, brotliDecompressSync(readFileSync(schema2)));
  const steps: unknown[] = [];
  const onMigration = (step: unknown) => void steps.push(step);
  const found = await checkDatabase({ path, network: "regtest", onMigration });
  assert.deepEqual(found, { blocks: 450, transactions: 450, outputs: 450, keyImages: 0 });
  assert.equal(steps.length, 3);
});

test("wallets of commit 15bd640 open with all they knew, and pay", async () => {
  const node = await startNode();
  const { ask, open, balance } = await startService(node.port);
  await open("alice");
  assert.deepEqual(await balance(), [files.aliceBalance, files.aliceUnlocked]);
  assert.deepEqual(await ask("get_tx_notes", { txids: [files.mined] }), { notes: ["the first"] });
  const { tx_key } = await ask("get_tx_key", { txid: files.mined });
  const proven = await ask("check_tx_key", { txid: files.mined, tx_key: String(tx_key), address: files.bob });
  assert.equal(String(proven.received), files.bobUnlocked);
  const amount = 70_000_000_000n;
  await ask("transfer", { destinations: [{ address: files.bob, amount }] });
  await node.mine(10);
  await ask("refresh");
  await open("bob");
  await ask("refresh");
  const received = `${BigInt(files.bobBalance) + amount}`;
  assert.deepEqual(await balance(), [received, received]);
  await open("alice");
  assert.deepEqual(await ask("get_tx_key", { txid: files.mined }), { tx_key });
});
