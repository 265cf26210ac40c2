import assert from "node:assert/strict";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type Engine, OutcomeUnknown, openPostgresEngine, StoreUnavailable } from "../src/index.ts";
import { bytes, temporaryFolder, text, walletId } from "./harness.ts";
import { type PostgresServer, postgresMissing, startPostgres } from "./postgres-server.ts";

/** A COMMIT in the simple protocol: its kind, its length, its text. Source: PostgreSQL, "Message Formats". */
const COMMIT = Buffer.from("Q\0\0\0\x0bCOMMIT\0", "latin1");

/** What happens to the first COMMIT that comes: lost with its connection, before or after the server has it. */
type Cut = "before" | "after" | "late";

interface Proxy {
  readonly address: string;
  /** What to do with the next COMMIT. */
  cut: Cut | undefined;
  /** How many COMMITs have come. */
  commits: number;
  /** Whether it takes no connections. */
  isClosed: boolean;
  close(): Promise<void>;
}

/** Stands between an engine and the server, and cuts a connection at a COMMIT. */
async function startProxy(address: string): Promise<Proxy> {
  const { folder, remove } = temporaryFolder();
  const target = new URL(address.replace("@/", "@x/"));
  const file = ".s.PGSQL.5432";
  const sockets = new Set<Socket>();
  let late: (() => void) | undefined;
  const proxy: Proxy = {
    address: address.replace(/host=.*$/, `host=${encodeURIComponent(folder)}`),
    cut: undefined,
    commits: 0,
    isClosed: false,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      remove();
    },
  };
  const forward = (client: Socket, upstream: Socket) => (data: Buffer) => {
    if (data.includes("FOR UPDATE")) late?.();
    if (data.includes(COMMIT)) proxy.commits++;
    if (proxy.cut === undefined || !data.includes(COMMIT)) return void upstream.write(data);
    const { cut } = proxy;
    proxy.cut = undefined;
    client.off("data", client.listeners("data")[0] as () => void);
    if (cut === "before") {
      client.destroy();
      upstream.destroy();
    } else if (cut === "late") {
      // The server gets it only once somebody asks what became of it.
      client.destroy();
      late = () => {
        late = undefined;
        upstream.write(data);
      };
    } else {
      upstream.removeAllListeners("data").once("data", () => client.destroy());
      upstream.write(data);
    }
  };
  const server: Server = createServer((client) => {
    if (proxy.isClosed) return void client.destroy();
    const upstream = connect(join(target.searchParams.get("host")!, file));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
    }
    client.on("data", forward(client, upstream));
    upstream.on("data", (data: Buffer) => client.write(data));
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(join(folder, file), resolve));
  return proxy;
}

describe("PostgreSQL, a connection lost in a commit", { skip: postgresMissing() }, () => {
  let server: PostgresServer;
  let direct: Engine;
  let proxy: Proxy;
  let engine: Engine;
  const wallet = walletId(1);
  const put = (value: string) => ({
    puts: [{ table: 1, key: bytes("k"), value: bytes(value) }],
    deletes: [],
  });
  const valueNow = async () => text(await direct.read(wallet, { table: 1, key: bytes("k") }));
  before(async () => {
    server = await startPostgres();
    const address = await server.createDatabase();
    direct = await openPostgresEngine(address);
    proxy = await startProxy(address);
    engine = await openPostgresEngine(proxy.address, { patienceMs: 1000 });
  });
  after(async () => {
    await engine?.close();
    await direct?.close();
    await proxy?.close();
    await server?.stop();
  });

  it("before the server had it, fails the change, which was not applied", async () => {
    const { epoch } = await engine.fence(wallet);
    await engine.apply(wallet, { epoch, ...put("first") });
    proxy.cut = "before";
    await assert.rejects(engine.apply(wallet, { epoch, ...put("second") }), StoreUnavailable);
    assert.equal(await valueNow(), "first");
    assert.equal(await engine.apply(wallet, { epoch, ...put("third") }), 2);
  });

  it("after the server had it, finds the change applied, once", async () => {
    const { epoch, sequence } = await engine.fence(wallet);
    proxy.cut = "after";
    const other = walletId(2);
    const { epoch: others } = await engine.fence(other);
    const both = [
      engine.apply(wallet, { epoch, ...put("fourth") }),
      engine.apply(other, { epoch: others, ...put("other") }),
    ];
    assert.deepEqual(await Promise.all(both), [sequence + 1, 1]);
    assert.equal(proxy.cut, undefined);
    assert.equal(await valueNow(), "fourth");
    assert.deepEqual(await direct.markOf(wallet), { epoch, sequence: sequence + 1 });
  });

  it("waits for a commit that is still under way, before it says what became of it", async () => {
    const { epoch, sequence } = await engine.fence(wallet);
    proxy.cut = "late";
    assert.equal(await engine.apply(wallet, { epoch, ...put("fifth") }), sequence + 1);
    assert.equal(await valueNow(), "fifth");
  });

  it("says that a commit was applied once the server has answered a later one, as its standbys have both then", async () => {
    const { epoch, sequence } = await engine.fence(wallet);
    proxy.cut = "after";
    proxy.commits = 0;
    assert.equal(await engine.apply(wallet, { epoch, ...put("replicated") }), sequence + 1);
    assert.equal(proxy.commits, 2);
  });

  it("says that it does not know where another owner has taken the wallet since", async () => {
    const { epoch, sequence } = await engine.fence(wallet);
    proxy.cut = "after";
    proxy.isClosed = true;
    const attempt = assert.rejects(engine.apply(wallet, { epoch, ...put("sixth") }), OutcomeUnknown);
    while ((await direct.markOf(wallet))?.sequence === sequence) await setTimeout(10);
    await direct.fence(wallet);
    proxy.isClosed = false;
    await attempt;
    assert.equal(await valueNow(), "sixth");
  });

  it("says that it does not know when the server stays away", async () => {
    const { epoch } = await engine.fence(wallet);
    proxy.cut = "after";
    proxy.isClosed = true;
    await assert.rejects(engine.apply(wallet, { epoch, ...put("last") }), OutcomeUnknown);
    assert.equal(await valueNow(), "last");
    await assert.rejects(engine.markOf(wallet), StoreUnavailable);
  });
});
