import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import type { Clock } from "../src/index.ts";
import { addEvents, lmdbPlace, openLog, START_MS, TestClock, until } from "./harness.ts";
import { ok, startReceiver } from "./receiver.ts";
import {
  at,
  DAY,
  failingLog,
  HOUR,
  isThrough,
  openHooks,
  passPauses,
  passUntil,
  upTo,
} from "./webhook-scene.ts";

at("sends each event once, in order, signed, under an id of the log and its number", async (scene) => {
  const { log, hooks, receiver } = scene;
  await addEvents(log, 1);
  const { id, secret } = await hooks.add({ url: receiver.url });
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  await addEvents(log, 3);
  await until(isThrough(hooks, log));
  assert.deepEqual(
    receiver.received.map(({ id: message, sequence }) => [message, sequence]),
    upTo(4, 2).map((sequence) => [`${log.id}_${sequence}`, sequence]),
  );
  const [first] = receiver.received;
  assert.equal(first?.timestamp, String(START_MS / 1000));
  assert.match(first?.body ?? "", /"type":"received".*"amount":1152921504606846976/);
  assert.match(first?.signature ?? "", /^v1,[A-Za-z0-9+/]{43}=$/);
  const listed = hooks.list();
  assert.deepEqual(listed, [
    {
      id,
      url: receiver.url,
      wallets: [],
      types: [],
      disabled: "",
      sequence: 4,
      attempts: 0,
      nextAttempt: 0,
      missed: 0,
    },
  ]);
  assert.ok(!JSON.stringify(listed).includes(secret));
});

at("sends only what the filters let through", async ({ log, hooks, receiver }) => {
  await hooks.add({ url: receiver.url, wallets: ["al*e", "carol"], types: ["received"] });
  await hooks.add({ url: receiver.url.replace("hook", "other"), types: ["spent"] });
  await addEvents(log, 2, "alice");
  await addEvents(log, 2, "bo");
  await addEvents(log, 1, "carola");
  await until(isThrough(hooks, log));
  assert.deepEqual(
    receiver.received.map(({ path, sequence }) => [path, sequence]),
    [
      ["/hook", 1],
      ["/hook", 2],
    ],
  );
});

at("a receiver that fails half the time gets every event in order, repeated under one id", async (scene) => {
  const { log, clock, hooks, receiver } = scene;
  let calls = 0;
  const taken: number[] = [];
  receiver.respond = (response, { sequence }) => {
    const turn = calls++ % 4;
    if (turn === 0) response.writeHead(500).end();
    else if (turn === 2) response.destroy();
    else {
      taken.push(sequence);
      ok(response, receiver.received.at(-1)!);
    }
  };
  await hooks.add({ url: receiver.url });
  await addEvents(log, 20);
  await passPauses(clock, hooks, log);
  assert.deepEqual(taken, upTo(20));
  assert.equal(receiver.received.length, 40);
  assert.equal(new Set(receiver.received.map(({ id }) => id)).size, 20);
});

at("a receiver that hangs is left after 15 seconds, and holds up no other", async (scene) => {
  const { log, clock, hooks, receiver } = scene;
  receiver.respond = (response, received) => {
    if (received.path === "/hook") ok(response, received);
  };
  const { id } = await hooks.add({ url: receiver.url.replace("hook", "hangs") });
  await hooks.add({ url: receiver.url });
  await addEvents(log, 5);
  const sentTo = (path: string) => receiver.received.filter((received) => received.path === path).length;
  await until(() => sentTo("/hook") === 5 && sentTo("/hangs") === 1);
  const status = () => hooks.list().find((hook) => hook.id === id);
  assert.equal(status()?.attempts, 0);
  await clock.pass(14_000);
  assert.equal(status()?.attempts, 0);
  await passUntil(clock, () => sentTo("/hangs") >= 2, 1_000);
  assert.ok(status()!.attempts >= 1);
});

at("does not read a response that never ends", async ({ log, hooks, receiver }) => {
  let isClosed = false;
  receiver.respond = (response) => {
    response.on("close", () => {
      isClosed = true;
    });
    response.writeHead(200);
    const fill = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on("drain", fill);
    fill();
  };
  await hooks.add({ url: receiver.url });
  await addEvents(log, 1);
  await until(() => isClosed && isThrough(hooks, log)());
  assert.equal(receiver.received.length, 1);
});

at("a receiver that changes protocols, or hangs up, has failed and holds up nothing", async (scene) => {
  const { log, clock, hooks } = scene;
  const answers = ["HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n", ""];
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => {
      const answer = answers[requests++ % answers.length]!;
      if (answer === "") socket.end();
      else socket.write(answer);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    const { id } = await hooks.add({ url: `http://127.0.0.1:${port}/` });
    await addEvents(log, 1);
    await passPauses(clock, hooks, log);
    const [letter] = await hooks.deadLetters(id);
    assert.equal(letter?.attempts, requests);
    assert.ok(["101", "ECONNRESET"].includes(letter.reason), letter.reason);
    assert.deepEqual(await hooks.replay(id), { delivered: 0, failed: 1 });
    assert.ok(await hooks.remove(id));
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  }
});

at("a service whose log has ended sends nothing more", async ({ log, clock, hooks, receiver }) => {
  receiver.respond = (response) => void response.writeHead(500).end();
  await hooks.add({ url: receiver.url });
  await addEvents(log, 3);
  await until(() => hooks.list()[0]!.attempts === 1);
  await log.close();
  receiver.respond = ok;
  await clock.pass(DAY);
  assert.equal(receiver.received.length, 1);
});

at("follows no redirect", async ({ log, clock, hooks, receiver }) => {
  receiver.respond = (response) => {
    response.writeHead(307, { location: receiver.url.replace("hook", "inside") }).end();
  };
  await hooks.add({ url: receiver.url });
  await addEvents(log, 1);
  await passUntil(clock, () => receiver.received.length >= 3, 10_000);
  assert.ok(receiver.received.every(({ path }) => path === "/hook"));
  assert.equal(hooks.list()[0]?.sequence, 0);
});

at("410 disables a hook, which goes on where it was once it is enabled", async (scene) => {
  const { log, clock, hooks, receiver } = scene;
  receiver.respond = (response) => void response.writeHead(410).end();
  const { id } = await hooks.add({ url: receiver.url });
  await addEvents(log, 2);
  await until(() => hooks.list()[0]?.disabled !== "");
  await clock.pass(DAY);
  assert.equal(receiver.received.length, 1);
  receiver.respond = ok;
  await Promise.all([hooks.enable(id), hooks.enable(id)]);
  await until(isThrough(hooks, log));
  assert.deepEqual(
    receiver.received.map(({ sequence }) => sequence),
    [1, 1, 2],
  );
});

at("gives an event up after three days, goes on, and sends it once more on request", async (scene) => {
  const { log, clock, hooks, receiver } = scene;
  const refuse = new Set([2]);
  receiver.respond = (response, received) => {
    if (refuse.has(received.sequence)) response.writeHead(503).end();
    else ok(response, received);
  };
  const { id } = await hooks.add({ url: receiver.url });
  await addEvents(log, 3);
  const from = clock.now();
  await passPauses(clock, hooks, log);
  assert.ok(clock.now() - from >= 3 * DAY && clock.now() - from < 4 * DAY);
  const attempts = receiver.received.filter(({ sequence }) => sequence === 2).length;
  assert.ok(attempts > 15 && attempts < 60, `${attempts} attempts`);
  const [letter, ...others] = await hooks.deadLetters(id);
  assert.deepEqual(others, []);
  assert.deepEqual(
    { sequence: letter?.sequence, attempts: letter?.attempts, reason: letter?.reason },
    { sequence: 2, attempts, reason: "503" },
  );
  assert.deepEqual(await hooks.replay(id), { delivered: 0, failed: 1 });
  refuse.clear();
  assert.deepEqual(await hooks.replay(id), { delivered: 1, failed: 0 });
  assert.deepEqual(await hooks.deadLetters(id), []);
  assert.equal(receiver.received.at(-1)?.id, `${log.id}_2`);
});

/** One that can be set. */
const settable = (clock: TestClock): Clock & { ahead: number } => ({
  ahead: 0,
  now() {
    return clock.now() + this.ahead;
  },
  delay: (ms, signal) => clock.delay(ms, signal),
});

at("a clock that was ahead holds up no event for longer than a pause", async (scene) => {
  const { log, clock, receiver, open } = scene;
  const wrong = settable(clock);
  wrong.ahead = 400 * DAY;
  const first = await open({ clock: wrong });
  receiver.respond = (response) => void response.writeHead(500).end();
  await first.add({ url: receiver.url });
  await addEvents(log, 1);
  await until(() => first.list()[0]!.attempts === 1);
  await first.close();
  receiver.respond = ok;
  const second = await open();
  for (let ms = 0; ms < 100 && receiver.received.length < 2; ms += 10) await clock.pass(10);
  await until(isThrough(second, log));
  assert.equal(receiver.received.length, 2);
});

at("no event is given up after a few attempts, whatever the clock says", async (scene) => {
  const { log, clock, receiver, open } = scene;
  const jumping = settable(clock);
  const hooks = await open({ clock: jumping });
  receiver.respond = (response) => void response.writeHead(500).end();
  const { id } = await hooks.add({ url: receiver.url });
  await addEvents(log, 1);
  await until(() => hooks.list()[0]!.attempts === 1);
  jumping.ahead = 4 * DAY;
  await passUntil(clock, isThrough(hooks, log), HOUR);
  const [letter] = await hooks.deadLetters(id);
  assert.deepEqual([letter?.attempts, receiver.received.length], [15, 15]);
});

at("a hook that could not be removed is there still, and sends", async ({ log, receiver, open }) => {
  let isFull = false;
  const hooks = await open({ log: failingLog(log, () => isFull) });
  const { id } = await hooks.add({ url: receiver.url });
  isFull = true;
  await assert.rejects(hooks.remove(id), /no space left/);
  assert.equal(hooks.list().length, 1);
  isFull = false;
  await addEvents(log, 1);
  await until(isThrough(hooks, log));
  assert.equal(receiver.received.length, 1);
  assert.ok(await hooks.remove(id));
  assert.deepEqual(hooks.list(), []);
});

at("connects to the address that was checked, under the name of the host", async (scene) => {
  const { log, receiver, open } = scene;
  const resolved: string[] = [];
  const hooks = await open({
    async resolve(hostname) {
      resolved.push(hostname);
      return ["127.0.0.1"];
    },
  });
  await hooks.add({ url: `http://shop.invalid:${receiver.port}/hook` });
  await addEvents(log, 1);
  await until(isThrough(hooks, log));
  assert.deepEqual(resolved, ["shop.invalid"]);
  assert.equal(receiver.received[0]?.host, `shop.invalid:${receiver.port}`);
});

at(
  "sends nothing to addresses that are not public, whatever their name says",
  async ({ log, clock, receiver, open }) => {
    let answers: readonly string[] = [];
    const hooks = await open({ resolve: async () => answers, allowsPrivate: false });
    const { port } = receiver;
    await hooks.add({ url: `http://shop.invalid:${port}/` });
    await hooks.add({ url: `http://127.0.0.1:${port}/` });
    await hooks.add({ url: `http://[::ffff:127.0.0.1]:${port}/` });
    await hooks.add({ url: `http://0x7f.1:${port}/` });
    await addEvents(log, 1);
    for (const found of [["127.0.0.1"], ["192.0.2.1", "127.0.0.1"], ["::ffff:127.0.0.1"], []]) {
      answers = found;
      await clock.pass(HOUR);
    }
    await passUntil(clock, () => hooks.list().every(({ attempts }) => attempts > 3), HOUR);
    assert.deepEqual(receiver.received, []);
  },
);

at("refuses what is no webhook, and more than it can serve", async ({ hooks, receiver }) => {
  const bad = [
    "ftp://example.org/",
    "nothing",
    "http://user:word@example.org/",
    `http://a/${"b".repeat(3_000)}`,
  ];
  for (const url of bad) await assert.rejects(hooks.add({ url }), RangeError);
  const { url } = receiver;
  await assert.rejects(hooks.add({ url, wallets: Array.from({ length: 65 }, () => "a") }), RangeError);
  await assert.rejects(hooks.add({ url, secret: "whsec_c2hvcnQ=" }), RangeError);
  await assert.rejects(hooks.add({ url, after: -1 }), RangeError);
  await assert.rejects(hooks.enable("00"), RangeError);
  const added = await Promise.allSettled(Array.from({ length: 300 }, () => hooks.add({ url })));
  assert.equal(added.filter(({ status }) => status === "fulfilled").length, 256);
  assert.equal(hooks.list().length, 256);
  assert.equal(await hooks.remove(hooks.list()[0]!.id), true);
  assert.equal(await hooks.remove("00"), false);
  await hooks.add({ url });
});

test("hooks, how far they have come and their dead letters are there after a restart", async () => {
  const place = lmdbPlace();
  const receiver = await startReceiver();
  const clock = new TestClock();
  const open = async () => {
    const log = await openLog(place, { clock, leaseMs: 400 * DAY });
    return { log, hooks: await openHooks(log, clock) };
  };
  try {
    const first = await open();
    receiver.respond = (response, received) =>
      received.sequence === 3 ? void response.writeHead(500).end() : ok(response, received);
    const { id, secret } = await first.hooks.add({ url: receiver.url });
    await addEvents(first.log, 5);
    await until(() => first.hooks.list()[0]!.attempts === 1);
    await first.hooks.close();
    await first.log.close();
    const second = await open();
    assert.deepEqual(
      second.hooks.list().map((hook) => [hook.id, hook.sequence, hook.attempts]),
      [[id, 2, 1]],
    );
    receiver.respond = ok;
    await passPauses(clock, second.hooks, second.log);
    assert.deepEqual(
      receiver.received.map(({ sequence }) => sequence),
      [1, 2, 3, 3, 4, 5],
    );
    assert.ok(await second.hooks.remove(id));
    await second.hooks.close();
    await second.log.close();
    const third = await open();
    assert.deepEqual(third.hooks.list(), []);
    assert.ok(secret.length > 0);
    await third.hooks.close();
    await third.log.close();
  } finally {
    await receiver.stop();
    await place.stop();
  }
});
