/** Which process answers a call, over real connections between processes that are none. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type NamedRequest, READS_PATH } from "@anulo/rpc";
import { StoreUnavailable } from "@anulo/store";
import { ask, type Fleet, idOf, peer, three } from "./fleet-router-fixture.ts";

test("a call goes to the wallet's owner, and follows it", async (t) => {
  const { fleet, a, b, c } = await three(t);
  fleet.owners.set("w", b.process);
  b.held.add("w");
  assert.equal(await ask(a, "w"), "b w");
  assert.equal(await ask(b, "w"), "b w");
  // a still takes b for the owner: b says that it is not.
  b.held.delete("w");
  c.held.add("w");
  fleet.owners.set("w", c.process);
  assert.equal(await ask(a, "w"), "c w");
});

test("what a restricted process passes on is restricted at the wallet's owner", async (t) => {
  const { fleet, a } = await three(t);
  const limited = await peer(t, fleet, idOf("d"), { restricted: true });
  fleet.owners.set("w", a.process);
  a.held.add("w");
  assert.equal(await ask(limited, "w"), "a w restricted");
  assert.equal(await ask(a, "w"), "a w");
});

test("a wallet of nobody goes to whoever has fewest, one after another", async (t) => {
  const { fleet, a, b, c } = await three(t);
  const owned = new Map([
    [a.process, 4],
    [b.process, 2],
    [c.process, 3],
  ]);
  fleet.members = fleet.members.map((member) => ({ ...member, owned: owned.get(member.process)! }));
  const answers = [];
  for (let i = 0; i < 6; i++) answers.push((await ask(a, `w${i}`))[0]);
  assert.deepEqual(answers.sort(), ["a", "b", "b", "b", "c", "c"]);
  // It has taken some over since the members were asked for.
  for (let i = 0; i < 9; i++) a.held.add(`taken${i}`);
  assert.deepEqual(
    new Set([await ask(a, "v0"), await ask(a, "v1")].map((answer) => answer[0])),
    new Set("bc"),
  );
});

test("a process that is not sure of its wallets answers for none", async (t) => {
  const { fleet, a } = await three(t);
  fleet.owners.set("w", a.process);
  a.held.add("w");
  a.isSure = false;
  const answered = ask(a, "w");
  setTimeout(() => {
    a.isSure = true;
  }, 300);
  assert.equal(await answered, "a w");
});

test("a call for a wallet that is being handed over waits, and goes to whoever has it then", async (t) => {
  const { fleet, a, b, c } = await three(t);
  fleet.owners.set("w", a.process);
  a.held.add("w");
  assert.equal(await ask(b, "w"), "a w", "b knows the owner from here on");
  a.handingOver.add("w");
  const answers = Promise.all([ask(a, "w"), ask(b, "w"), ask(c, "w")]);
  assert.equal(await Promise.race([answers, delay(300)]), undefined);
  // Its lease is not its own any more before the database says so.
  a.held.delete("w");
  assert.equal(await Promise.race([answers, delay(300)]), undefined);
  a.handingOver.delete("w");
  c.held.add("w");
  fleet.owners.set("w", c.process);
  assert.deepEqual(await answers, ["c w", "c w", "c w"]);
});

test("an owner that dies while it works leaves the outcome open; one that can't be reached, none", async (t) => {
  const { fleet, a, c } = await three(t);
  const dying = createServer((socket) => socket.once("data", () => socket.destroy()));
  await new Promise<void>((resolve) => {
    dying.listen(0, "127.0.0.1", resolve);
  });
  t.after(() => void dying.close());
  const address = `127.0.0.1:${(dying.address() as AddressInfo).port}`;
  const dead = idOf("d");
  fleet.members = [...fleet.members, { process: dead, address, owned: 0, silentMs: 0 }];
  fleet.owners.set("w", dead);
  const answer = JSON.parse(await ask(a, "w", '{"id":"7","method":"transfer"}'));
  assert.deepEqual([answer.id, answer.error.code], ["7", -503]);
  assert.match(answer.error.message, /idempotency_key/);
  for (const body of ['{"method":"transfer"}', '{"id":null,"method":"transfer"}', '{"id":'])
    assert.equal(JSON.parse(await ask(a, "w", body)).id, 0, body);
  dying.close();
  setTimeout(() => {
    c.held.add("w");
    fleet.owners.set("w", c.process);
  }, 300);
  assert.equal(await ask(a, "w"), "c w");
});

test("a process is gone if nobody listens at its address, or another process does", async (t) => {
  const { fleet, a, b } = await three(t, 2000);
  const [, atB] = fleet.members;
  const closed = createServer();
  const listening = createServer(() => undefined);
  const addressOf = async (server: typeof closed) => {
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const member = { ...atB!, process: idOf("d") };
  const [dead, stopped] = [
    { ...member, address: await addressOf(closed) },
    { ...member, address: await addressOf(listening) },
  ];
  t.after(() => void listening.close());
  await new Promise<void>((resolve) => void closed.close(() => resolve()));
  assert.equal(await a.router.isGone(dead), true);
  assert.equal(await a.router.isGone(stopped), false);
  assert.equal(await a.router.isGone(atB!), false, `${b.process} lives`);
  assert.equal(await a.router.isGone(member), true, "at the address of another");
});

test("who waits for a process that is stopped hears once the others have given it up", async (t) => {
  const { fleet, a } = await three(t);
  const stopped = createServer(() => undefined);
  await new Promise<void>((resolve) => {
    stopped.listen(0, "127.0.0.1", resolve);
  });
  t.after(() => void stopped.close());
  const process = idOf("e");
  const others = fleet.members;
  fleet.members = [
    ...others,
    { process, address: `127.0.0.1:${(stopped.address() as AddressInfo).port}`, owned: 0, silentMs: 0 },
  ];
  fleet.owners.set("w", process);
  const answered = ask(a, "w");
  setTimeout(() => {
    fleet.members = others;
    a.router.update();
  }, 300);
  assert.match(await answered, /-503/);
});

test("a process that is silent in the middle of a call is given up, though it is a member", async (t) => {
  const { fleet, a } = await three(t, 100);
  // The system takes connections for it, as for a process that is stopped.
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => {
    silent.listen(0, "127.0.0.1", resolve);
  });
  t.after(() => void silent.close());
  const process = idOf("e");
  const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  fleet.members = [...fleet.members, { process, address, owned: 0, silentMs: 0 }];
  fleet.owners.set("w", process);
  const answered = ask(a, "w", '{"id":"7"}');
  const beating = setInterval(() => a.router.update(), 20);
  t.after(() => clearInterval(beating));
  assert.match(await answered, /-503[\s\S]*idempotency_key/);
});

test("a process that is slow and says that it lives is waited for", async (t) => {
  const { fleet, a, b } = await three(t);
  fleet.owners.set("v", b.process);
  let finish = () => {};
  b.slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const waiting = ask(a, "v");
  for (let beat = 0; beat < 20; beat++) {
    a.router.update();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  b.held.add("v");
  finish();
  assert.equal(await waiting, "b v");
});

test("a caller that closes its side of the connection hears what another process answers later", async (t) => {
  const { fleet, a, b } = await three(t);
  fleet.owners.set("w", b.process);
  b.held.add("w");
  let finish = () => {};
  b.slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { hostname, port } = new URL(a.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.end("POST /wallets/w/json_rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
  let heard = "";
  socket.on("data", (bytes) => {
    heard += bytes;
  });
  const closed = once(socket, "end");
  // Longer than callers are waited for of which nothing shows whether they are there.
  setTimeout(finish, 1500);
  await closed;
  assert.match(heard, /b w$/);
});

test("whoever says nothing on the port for processes keeps none of them off it", async (t) => {
  const { fleet, a, b } = await three(t);
  fleet.owners.set("w", b.process);
  b.held.add("w");
  const { address } = fleet.members.find(({ process }) => process === b.process)!;
  const [host = "", port] = address.split(":");
  const silent = Array.from({ length: 1100 }, () => connect({ host, port: Number(port) }));
  t.after(() => {
    for (const socket of silent) socket.destroy();
  });
  for (const socket of silent) socket.on("error", () => undefined);
  await Promise.all(silent.slice(0, 1000).map((socket) => once(socket, "connect")));
  assert.equal(await ask(a, "w"), "b w");
});

test("a wallet has one owner, with the ending of its keys file or without", async (t) => {
  const { fleet, a, b } = await three(t);
  fleet.owners.set("w", b.process);
  b.held.add("w");
  assert.equal(await ask(a, "w.keys"), "b w.keys");
});

test("a former membership at the address of a process that was started anew gets no calls", async (t) => {
  const { fleet, a, b, c } = await three(t);
  const former = idOf("f");
  const { address } = fleet.members.find(({ process }) => process === a.process)!;
  fleet.members = [{ process: former, address, owned: 0, silentMs: 0 }, ...fleet.members];
  fleet.owners.set("w", former);
  const answered = [ask(a, "w"), ask(b, "w")];
  setTimeout(() => {
    c.held.add("w");
    fleet.owners.set("w", c.process);
  }, 300);
  assert.deepEqual(await Promise.all(answered), ["c w", "c w"]);
});

test("many reads of another process's wallets take one connection and one pass", async (t) => {
  const { fleet, a, c } = await three(t);
  fleet.owners.set("w", c.process);
  c.held.add("w");
  // The first ones come while the connection is opened.
  let before = -1;
  for (let asked = 0; c.passes() !== before; asked++) {
    assert.ok(asked < 1000, "each takes a pass");
    before = c.passes();
    assert.equal(await ask(a, "w"), "c w");
  }
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask(a, "w")));
  assert.deepEqual(new Set(answers), new Set(["c w"]));
  assert.equal(c.passes(), before);
  assert.equal(await ask(a, "w", "acts"), "c w", "what acts is passed on by a request of its own");
  assert.equal(c.passes(), before + 1);
});

/** Wallet `w` belongs to another process, of which there is only this port. */
async function ownedBehind(t: TestContext, fleet: Fleet, answer: (response: ServerResponse) => void) {
  const server = createHttpServer(({ url }, response) => {
    if (url === READS_PATH) response.writeHead(404).end();
    else answer(response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  fleet.members = [...fleet.members, { process: idOf("d"), address, owned: 0, silentMs: 0 }];
  fleet.owners.set("w", idOf("d"));
}

test("slow calls to a process keep no others from it", async (t) => {
  const { fleet, a } = await three(t);
  const waiting: ServerResponse[] = [];
  await ownedBehind(t, fleet, (response) => {
    waiting.push(response);
    if (waiting.length < 200) return;
    for (const each of waiting) each.setHeader("Content-Type", "text/plain").end("slow");
  });
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(a, "w")));
  assert.deepEqual(new Set(answers), new Set(["slow"]));
});

test("a short answer that broke off is reported as one that may have done what was asked", async (t) => {
  const { fleet, a } = await three(t);
  await ownedBehind(t, fleet, (response) => {
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": 3 });
    response.write("{", () => response.destroy());
  });
  assert.match(await ask(a, "w"), /-503[\s\S]*may have done what was asked/);
});

/** A request that came to a process, as far as its router looks at it. */
const requestOf = (more: Partial<NamedRequest> = {}) =>
  ({
    name: "w",
    isPassedOn: false,
    target: "/wallets/w/json_rpc",
    body: new Uint8Array(),
    signal: new AbortController().signal,
    giveUp() {},
    ...more,
  }) as unknown as NamedRequest;

test("a call waits while the database does not say who has its wallet, and fails with any other fault", async (t) => {
  const { fleet, a } = await three(t);
  fleet.owners.set("w", a.process);
  fleet.errors.push(new StoreUnavailable("away", { mayPass: true }));
  assert.equal(await a.router.answer(requestOf()), undefined, "it is here, by the second answer");
  assert.equal(fleet.errors.length, 0);
  const fault = new RangeError("a fault");
  fleet.errors.push(fault);
  await assert.rejects(async () => a.router.answer(requestOf()), fault);
});

test("who no longer waits is told at once that no process has the wallet", async (t) => {
  const { fleet, a } = await three(t);
  fleet.errors.push(new StoreUnavailable("away", { mayPass: true }));
  const answer = await a.router.answer(requestOf({ signal: AbortSignal.abort() }));
  assert.equal(answer?.status, 200);
  assert.match(Buffer.from(answer.body as Uint8Array).toString(), /-503/);
  assert.equal(fleet.errors.length, 0);
});

test("a request that was passed on is never passed on again", async (t) => {
  const { fleet, a, b, c } = await three(t);
  fleet.owners.set("w", c.process);
  const answer = await a.router.answer(requestOf({ isPassedOn: true }));
  assert.equal(answer?.status, 409);
  assert.equal(b.held.size, 0);
});
