import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  type Engine,
  openPostgresEngine,
  openWalletStore,
  StoreUnavailable,
  type WalletStore,
} from "../src/index.ts";
import {
  generations,
  keysOfGeneration,
  ROWS,
  secrets,
  tables,
  WALLETS,
  wrappingKey,
} from "./forever-tables.ts";
import { bytes, temporaryFolder, walletId } from "./harness.ts";
import { checkWritten, startWriter } from "./killed.ts";
import { type PostgresServer, postgresMissing, startPostgres } from "./postgres-server.ts";
import { storeOf } from "./wallet-suite.ts";

const KILLS = 5;

describe("PostgreSQL, killed", { skip: postgresMissing() }, () => {
  let server: PostgresServer;
  const { folder, remove } = temporaryFolder();
  before(async () => {
    server = await startPostgres();
  });
  after(async () => {
    await server?.stop();
    remove();
  });

  it("has all that a killed writer told of, and no change in part", async () => {
    const address = await server.createDatabase();
    const told = Array.from({ length: WALLETS }, () => 0);
    for (let kill = 0; kill < KILLS; kill++) {
      const writer = startWriter(address, folder);
      await writer.tells(1 + 13 * kill);
      await writer.kill();
      for (const [number, generation] of writer.told.entries())
        told[number] = Math.max(told[number]!, generation);
      const engine = await openPostgresEngine(address);
      await checkWritten(engine, folder, told);
      await engine.close();
    }
  });

  it("tells the truth about each change when the server is killed, and goes on when it is back", async () => {
    const address = await server.createDatabase();
    const { folder: beside, remove: removeBeside } = temporaryFolder();
    const engine = await openPostgresEngine(address);
    const told = Array.from({ length: WALLETS }, () => 0);
    const open = async (number: number) =>
      storeOf(
        await openWalletStore({ engine, wallet: walletId(number), tables, wrappingKey, folder: beside }),
      );
    const stores = await Promise.all(told.map((_, number) => open(number)));
    let applied = 0;
    let whenApplied: { count: number; resolve: () => void } | undefined;
    let isRoundOver = false;
    /** Applies generations until one fails, or the server is back; the last that was told is applied. */
    const applyUntilFailure = async (store: WalletStore, number: number) => {
      for (let generation = told[number]! + 1; !isRoundOver; generation++) {
        const value = bytes(`${generation}`);
        const { now, before: former } = keysOfGeneration(generation);
        const rows = Array.from({ length: ROWS }, (_, i) => ({
          table: generations,
          key: bytes(`row ${i}`),
          value,
        }));
        const puts = [...rows, ...[bytes("last"), now].map((key) => ({ table: secrets, key, value }))];
        try {
          await store.apply({ puts, deletes: [{ table: secrets, key: former }] });
        } catch (error) {
          assert.ok(error instanceof StoreUnavailable, String(error));
          return;
        }
        told[number] = generation;
        if (++applied >= (whenApplied?.count ?? Number.POSITIVE_INFINITY)) whenApplied?.resolve();
      }
    };
    try {
      for (let kill = 0; kill < KILLS; kill++) {
        const enough = new Promise<void>((resolve) => {
          whenApplied = { count: applied + 1 + 7 * kill, resolve };
        });
        isRoundOver = false;
        const writers = stores.map(applyUntilFailure);
        await enough;
        await server.kill();
        await server.start();
        // Some may have found their change applied, and go on.
        isRoundOver = true;
        await Promise.all(writers);
        await checkExactly(engine, told, stores);
      }
    } finally {
      for (const store of stores) await store.close();
      await engine.close();
      removeBeside();
    }
  });
});

/** Checks that wallets have what was told and no more: what failed was not applied. */
async function checkExactly(
  engine: Engine,
  told: readonly number[],
  stores: readonly WalletStore[],
): Promise<void> {
  for (const [number, store] of stores.entries()) {
    const last = await store.read(secrets, bytes("last"));
    assert.equal(Number(last === undefined ? 0 : Buffer.from(last)), told[number]);
    assert.equal((await engine.markOf(walletId(number)))?.sequence, store.mark.sequence);
  }
}
