import { after, describe } from "node:test";
import { type Engine, openPostgresEngine } from "../src/index.ts";
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

  engineSuite("PostgreSQL", postgresHarness);
  walletSuite("PostgreSQL", postgresHarness);
});
