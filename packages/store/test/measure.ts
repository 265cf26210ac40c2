/**
 * Measures an engine by hand: `node packages/store/dist/test/measure.js lmdb|postgres [ROWS]`. Rows have values of 200
 * bytes, in the engine alone and sealed. Processor time is that of this process; PostgreSQL has its own beside it.
 */

import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Engine, openWalletStore, rangeOf, type Table, type WalletStore } from "../src/index.ts";
import { temporaryFolder, walletId } from "./harness.ts";
import { openEngine } from "./open-engine.ts";
import { startPostgres } from "./postgres-server.ts";
import { storeOf } from "./wallet-suite.ts";

const [kind = "lmdb", count = "1000000"] = process.argv.slice(2);
const ROWS = Number(count);
const BATCH = 1000;
const VALUE = randomBytes(200);
const ordered: Table = { number: 1, orderedBytes: 8 };
const hidden: Table = { number: 2 };
const wallet = walletId(1);

async function measure(what: string, times: number, run: () => Promise<void>): Promise<void> {
  const [from, cpu] = [performance.now(), process.cpuUsage()];
  await run();
  const [ms, { user, system }] = [performance.now() - from, process.cpuUsage(cpu)];
  const perSecond = Math.round((1000 * times) / ms);
  const cpuEach = ((user + system) / times).toFixed(1);
  console.log(
    `${what.padEnd(56)} ${String(perSecond).padStart(9)}/s  ${cpuEach.padStart(7)} us of processor each`,
  );
}

const keyOf = (i: number): Buffer => {
  const key = Buffer.alloc(8);
  key.writeBigUInt64BE(BigInt(i));
  return key;
};
const rowsFrom = <T>(table: T, first: number, length = BATCH) =>
  Array.from({ length }, (_, i) => ({ table, key: keyOf(first + i), value: VALUE }));
const random = (below: number) => Math.floor(Math.random() * below);

function bytesBelow(folder: string): number {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((it) => it.isFile());
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}

async function measureEngine(engine: Engine): Promise<void> {
  const { epoch } = await engine.fence(wallet);
  const put = (first: number, length: number) =>
    engine.apply(wallet, { epoch, puts: rowsFrom(1, first, length), deletes: [] });
  await measure("changes of 1 row, one after another", 500, async () => {
    for (let i = 0; i < 500; i++) await put(i, 1);
  });
  const owners = await Promise.all(
    Array.from({ length: 1000 }, async (_, i) => ({
      id: walletId(100 + i),
      ...(await engine.fence(walletId(100 + i))),
    })),
  );
  await measure("changes of 1 row, 1,000 wallets at once", 10_000, async () => {
    for (let round = 0; round < 10; round++) {
      const changes = owners.map(({ id, epoch: own }) =>
        engine.apply(id, { epoch: own, puts: rowsFrom(1, round, 1), deletes: [] }),
      );
      await Promise.all(changes);
    }
  });
  await measure("rows, in changes of 1,000", 100 * BATCH, async () => {
    for (let i = 0; i < 100; i++) await put(i * BATCH, BATCH);
  });
  await measure("reads of 1 row", 5000, async () => {
    for (let i = 0; i < 5000; i++) await engine.read(wallet, { table: 1, key: keyOf(random(100 * BATCH)) });
  });
  await measure("ranges of 1,000 rows", 50, async () => {
    for (let i = 0; i < 50; i++) {
      let seen = 0;
      for await (const _ of rangeOf(engine, wallet, { table: 1, from: keyOf(random(99_000)), limit: BATCH }))
        seen++;
      if (seen !== BATCH) throw new Error(`${seen} rows`);
    }
  });
}

async function fill(store: WalletStore, table: Table): Promise<void> {
  for (let first = 0; first < ROWS; first += BATCH) await store.apply({ puts: rowsFrom(table, first) });
}

async function measureWallet(store: WalletStore): Promise<void> {
  await measure(`sealed rows, ordered, in changes of 1,000 (${ROWS})`, ROWS, () => fill(store, ordered));
  await measure("sealed rows, hidden keys, in changes of 1,000 (100,000)", 100_000, async () => {
    for (let first = 0; first < 100_000; first += BATCH) await store.apply({ puts: rowsFrom(hidden, first) });
  });
  await measure("sealed changes of 1 row, one after another", 500, async () => {
    for (let i = 0; i < 500; i++) await store.apply({ puts: rowsFrom(ordered, i, 1) });
  });
  await measure("sealed reads of 1 row", 5000, async () => {
    for (let i = 0; i < 5000; i++) await store.read(ordered, keyOf(random(ROWS)));
  });
  await measure("sealed ranges of 1,000 rows", 50, async () => {
    for (let i = 0; i < 50; i++) {
      for await (const _ of store.range(ordered, { from: keyOf(random(ROWS - BATCH)), limit: BATCH }));
    }
  });
}

const server = kind === "postgres" ? await startPostgres() : undefined;
const { folder, remove } = temporaryFolder();
const where = server === undefined ? join(folder, "store.mdb") : await server.createDatabase();
try {
  const first = await openEngine(where);
  await measureEngine(first);
  await first.close();
  const second = await openEngine(where);
  const options = { wallet: walletId(2), tables: [ordered, hidden], wrappingKey: randomBytes(32), folder };
  const before = server === undefined ? bytesBelow(folder) : 0;
  const store = storeOf(await openWalletStore({ ...options, engine: second }));
  await measureWallet(store);
  if (server === undefined) {
    const each = (bytesBelow(folder) - before) / (ROWS + 100_000);
    console.log(`bytes of the file for each sealed row: ${each.toFixed(0)}`);
  }
  await store.close();
  await second.close();
  /** Of its own, without the pages of the file. Source: proc(5). */
  const memory = () =>
    Math.round(Number(/RssAnon:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024);
  const heldBefore = memory();
  const from = performance.now();
  const engine = await openEngine(where);
  const again = storeOf(await openWalletStore({ ...options, engine }));
  await again.read(ordered, keyOf(1));
  console.log(`opened a wallet of ${ROWS} rows and read one in ${(performance.now() - from).toFixed(0)} ms`);
  console.log(`memory ${heldBefore} MiB before, ${memory()} MiB once it is open`);
  let most = 0;
  await measure("rows of a walk over all", ROWS, async () => {
    let rows = 0;
    for await (const _ of again.range(ordered)) if (++rows % 10_000 === 0) most = Math.max(most, memory());
  });
  console.log(`memory at most ${most} MiB in the walk`);
  await again.close();
  await engine.close();
} finally {
  await server?.stop();
  remove();
}
