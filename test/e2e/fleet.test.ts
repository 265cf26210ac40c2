/** Processes that share the wallets of a folder, on a real database and a private chain. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { FleetWorld, natsMissing, postgresMissing, runFleetRounds, until } from "@anulo/testkit";

const PATIENCE_MS = 300_000;

describe("a fleet", { skip: postgresMissing() }, () => {
  test("killed or stopped in the middle of payments makes each once, and loses no wallet", async (t) => {
    const options = { rounds: 4, seed: "short", processes: 3, wallets: 9, pauseEvery: 2, pauseMs: 8000 };
    const { kills, pauses, payments, slowestTakeoverMs } = await runFleetRounds(options);
    assert.deepEqual({ kills, pauses, payments }, { kills: 2, pauses: 2, payments: 16 });
    t.diagnostic(`slowest takeover ${slowestTakeoverMs} ms`);
  });

  const events = { skip: natsMissing() };
  test("with an event log, tells each event once and in order to whoever follows it", events, async (t) => {
    const options = { rounds: 4, seed: "told", processes: 3, wallets: 6, pauseEvery: 2, pauseMs: 8000 };
    const { payments, events: told, repeated } = await runFleetRounds({ ...options, events: true });
    assert.equal(payments, 16);
    t.diagnostic(`${told} events, ${repeated} webhooks repeated`);
  });

  describe("of three", () => {
    let world: FleetWorld;
    before(async () => {
      world = await FleetWorld.create({ processes: 3, wallets: 12 });
    });
    after(async () => await world.stop());

    const addressOf = async (i: number, name: string) =>
      String((await world.ask(world.members[i]!, name, "get_address")).address);

    test("answers for any wallet at any process, and spreads the wallets", async () => {
      const counts = () => world.members.map((member) => world.walletsOf(member).length);
      const isSpread = async () => counts().every((count) => count >= 2);
      assert.ok(await until(isSpread, PATIENCE_MS), `spread as ${counts()}`);
      for (const name of world.names.slice(0, 3)) {
        const addresses = await Promise.all([0, 1, 2].map((i) => addressOf(i, name)));
        assert.equal(new Set(addresses).size, 1);
      }
    });

    test("keeps a wallet open in one process, whichever path asks for it", async () => {
      const [first] = world.members;
      const name = world.names.find((each) => !world.walletsOf(first!).includes(each))!;
      const params = { filename: name, password: "" };
      await assert.rejects(world.askUnnamed(first!, "open_wallet", params), { code: -503 });
      await world.ask(first!, name, "set_attribute", { key: "seen", value: "everywhere" });
      for (const member of world.members) {
        const { value } = await world.ask(member, name, "get_attribute", { key: "seen" });
        assert.equal(value, "everywhere");
      }
    });

    test("takes nothing on its own port that no process has sent", async () => {
      const [first] = world.members;
      const sent = fetch(`http://${first!.address}/wallets/w0/json_rpc`, {
        method: "POST",
        headers: { Authorization: "Anulo from=0" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "get_height" }),
      });
      await assert.rejects(sent);
    });

    test("refuses at a restricted process what it refuses, whoever has the wallet", async () => {
      const restricted = await world.startMember("--restricted-rpc");
      for (const name of world.names) {
        const key = world.ask(restricted, name, "query_key", { key_type: "mnemonic" });
        await assert.rejects(key, { code: -7 });
      }
      await restricted.process.stop();
    });

    test("takes in no process that hashes passwords in another way", async () => {
      await assert.rejects(world.startMember("--kdf-rounds", "2"), /kdf-rounds 1/);
    });

    test("goes on with the wallets of a process that is stopped, and gives a new one its share", async () => {
      const [first, second] = world.members;
      const had = world.walletsOf(first!);
      await first!.process.stop();
      const all = () => world.walletsOf(second!).length + world.walletsOf(world.members[2]!).length;
      assert.ok(
        await until(async () => all() === world.names.length, PATIENCE_MS),
        "its wallets are open again",
      );
      for (const name of had) await world.ask(second!, name, "get_height");
      for (const name of world.names)
        await world.ask(second!, name, "open_wallet", { filename: name, password: "" });
      world.members[0] = await world.startMember();
      // A call that meets a wallet on its way to another process is answered there.
      let isOver = false;
      const calls = Promise.all(
        world.names.map(async (name) => {
          while (!isOver) await world.ask(world.members[1 + (name.length % 2)]!, name, "get_height");
        }),
      );
      const share = async () => world.walletsOf(world.members[0]!).length > 0;
      const isGiven = await until(share, PATIENCE_MS);
      isOver = true;
      await calls;
      assert.ok(isGiven, "it is given wallets");
      const keptOpen = "SELECT name FROM anulo.leases WHERE kept_open ORDER BY name";
      assert.deepEqual(
        world.postgres.query(keptOpen),
        [...world.names].sort(),
        "they stay open at whoever has them",
      );
      for (const name of world.names) await world.ask(world.members[0], name, "get_height");
    });
  });
});
