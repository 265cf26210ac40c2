import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, test } from "node:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { type Clock, type EventLog, openNatsSink, systemClock } from "../src/index.ts";
import { subjectToken } from "../src/nats/subject.ts";
import { addEvents, lmdbPlace, openLog, until } from "./harness.ts";
import { type NatsServer, natsMissing, PASSWORD, startNats } from "./nats-server.ts";

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);
/** Pauses between connections are short, so that a test meets many. */
const clock: Clock = { now: systemClock.now, delay: (ms, signal) => systemClock.delay(ms / 20, signal) };

interface Stored {
  readonly subject: string;
  readonly id: string;
  readonly sequence: number;
}

/** All messages of the stream in its order. */
async function storedIn(server: NatsServer): Promise<Stored[]> {
  const { hostname, port } = new URL(server.address);
  const connection = await connect({ servers: `${hostname}:${port}`, user: "anulo", pass: PASSWORD });
  const manager = await jetstreamManager(connection);
  const { state } = await manager.streams.info("ANULO_EVENTS");
  const found: Stored[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage("ANULO_EVENTS", { seq });
    if (message === null) continue;
    const { sequence } = message.json<{ sequence: number }>();
    found.push({ subject: message.subject, id: message.header.get("Nats-Msg-Id"), sequence });
  }
  await connection.close();
  return found;
}

test("wallets and types are safe tokens of a subject", () => {
  assert.equal(subjectToken("alice-1_B"), "alice-1_B");
  assert.equal(subjectToken("a.b*c> é"), "a%2Eb%2Ac%3E%20%C3%A9");
  assert.equal(subjectToken(""), "%");
});

test("an address that is none is refused without its password", async () => {
  const place = lmdbPlace();
  const log = await openLog(place);
  for (const address of [`http://a:${PASSWORD}@b`, `nats//${PASSWORD}`, ""]) {
    await assert.rejects(openNatsSink({ log, address }), (error: Error) => {
      return error instanceof RangeError && !error.message.includes(PASSWORD);
    });
  }
  await log.close();
  await place.stop();
});

test("a server that does not answer is asked after twice the pause each time, up to a minute", async () => {
  const place = lmdbPlace();
  const log = await openLog(place);
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const pauses: number[] = [];
  const counting: Clock = {
    now: systemClock.now,
    async delay(ms) {
      pauses.push(ms);
    },
  };
  const address = `nats://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sink = await openNatsSink({ log, address, clock: counting, random: () => 0.5 });
  await until(() => pauses.length >= 9);
  await sink.close();
  // Three quarters of half a second, of one, of two.
  const first = 375;
  assert.deepEqual(
    pauses.slice(0, 9),
    [1, 2, 4, 8, 16, 32, 64, 120, 120].map((times) => first * times),
  );
  server.close();
  await log.close();
  await place.stop();
});

describe("NATS JetStream", { skip: natsMissing() }, () => {
  const at = (title: string, check: (server: NatsServer, log: EventLog) => Promise<void>) =>
    test(title, async () => {
      const place = lmdbPlace();
      const server = await startNats();
      const log = await openLog(place);
      try {
        await check(server, log);
      } finally {
        await log.close();
        await server.stop();
        await place.stop();
      }
    });

  at(
    "the stream gets every event once and in order, under subjects by wallet and type",
    async (server, log) => {
      await addEvents(log, 2, "alice");
      const sink = await openNatsSink({ log, address: server.address, clock });
      await addEvents(log, 1, "b.o");
      await until(() => sink.sequence === 3);
      assert.deepEqual(await storedIn(server), [
        { subject: "anulo.events.alice.received", id: `${log.id}_1`, sequence: 1 },
        { subject: "anulo.events.alice.received", id: `${log.id}_2`, sequence: 2 },
        { subject: "anulo.events.b%2Eo.received", id: `${log.id}_3`, sequence: 3 },
      ]);
      await sink.close();
    },
  );

  at("a server that is killed and comes back has every event once and in order", async (server, log) => {
    const sink = await openNatsSink({ log, address: server.address, clock });
    const failure = () => sink.failure;
    assert.equal(failure(), "");
    for (let kill = 1; kill <= 3; kill++) {
      const added = addEvents(log, 300);
      await until(() => sink.sequence > 300 * (kill - 1) + 40 * kill);
      await server.kill();
      await added;
      await server.start();
    }
    await until(() => sink.sequence === 900);
    assert.notEqual(failure(), "");
    assert.ok(!failure().includes(PASSWORD));
    const stored = await storedIn(server);
    assert.deepEqual(
      stored.map(({ sequence }) => sequence),
      upTo(900),
    );
    await sink.close();
  });

  at(
    "a sink that does not know what has arrived asks the stream, also after its window",
    async (server, log) => {
      const first = await openNatsSink({ log, address: server.address, clock });
      await addEvents(log, 5);
      await until(() => first.sequence === 5);
      await first.close();
      // As if it had been killed before it noted that, longer ago than the stream remembers ids.
      const { hostname, port } = new URL(server.address);
      const connection = await connect({ servers: `${hostname}:${port}`, user: "anulo", pass: PASSWORD });
      const manager = await jetstreamManager(connection);
      await manager.streams.update("ANULO_EVENTS", { duplicate_window: 100_000_000 });
      await connection.close();
      await systemClock.delay(300);
      await log.rows.write(async (rows) => {
        rows.delete({ table: { number: 5 }, key: Buffer.from("nats:ANULO_EVENTS:anulo.events") });
        return true;
      });
      const second = await openNatsSink({ log, address: server.address, clock });
      assert.equal(second.sequence, 0);
      await addEvents(log, 2);
      await until(() => second.sequence === 7);
      assert.deepEqual(
        (await storedIn(server)).map(({ sequence }) => sequence),
        upTo(7),
      );
      await second.close();
    },
  );
});
