import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, describe, it } from "node:test";
import { type Engine, type NewRow, openPostgresEngine } from "../src/index.ts";
import { engineSuite } from "./engine-suite.ts";
import { type Harness, temporaryFolder } from "./harness.ts";
import { type PostgresServer, postgresMissing, startPostgres } from "./postgres-server.ts";
import { walletSuite } from "./wallet-suite.ts";

describe("PostgreSQL", { skip: postgresMissing() }, () => {
  let server: Promise<PostgresServer> | undefined;
  after(async () => await (await server)?.stop());

  async function postgresHarness(): Promise<Harness> {
    server ??= startPostgres();
    const address = await (await server).createDatabase();
    const { folder, remove } = temporaryFolder();
    const opened: Engine[] = [];
    return {
      async open() {
        const engine = await openPostgresEngine(address);
        opened.push(engine);
        return engine;
      },
      folder,
      async stop() {
        for (const engine of opened) await engine.close();
        remove();
      },
    };
  }

  it("reads the rows of wallets at once, each with those and the mark of its own, but not too many", async () => {
    const harness = await postgresHarness();
    const engine = await harness.open();
    const rowsOf = (count: number, bytes: number): NewRow[] =>
      Array.from({ length: count }, (_, i) => ({
        table: i % 3,
        key: Buffer.from([i >> 8, i & 255]),
        value: randomBytes(bytes),
      }));
    const order = (a: NewRow, b: NewRow) => a.table - b.table || Buffer.compare(a.key, b.key);
    const kinds = [rowsOf(0, 0), rowsOf(300, 40), rowsOf(1024, 0), rowsOf(1025, 0), rowsOf(9, 60_000)];
    const wallets = [];
    for (let i = 0; i < 40; i++) {
      const id = randomBytes(16);
      const puts = kinds[i % kinds.length]!;
      const { epoch } = await engine.fence(id);
      if (puts.length > 0) await engine.apply(id, { epoch, puts, deletes: [] });
      wallets.push({ id, puts, mark: { epoch, sequence: puts.length > 0 ? 1 : 0 } });
    }
    const found = await Promise.all(wallets.map(({ id }) => engine.readAhead!(id)));
    for (const [i, { puts, mark }] of wallets.entries()) {
      assert.deepEqual(found[i]!.mark, mark);
      const isMuch = puts.length > 1024 || puts.length === 9;
      assert.deepEqual(found[i]!.rows, isMuch ? undefined : [...puts].sort(order), `wallet ${i}`);
    }
    assert.deepEqual(await engine.readAhead!(randomBytes(16)), { mark: undefined, rows: [] });
    await harness.stop();
  });

  engineSuite("PostgreSQL", postgresHarness);
  walletSuite("PostgreSQL", postgresHarness);
});
