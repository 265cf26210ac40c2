/** Reads that one process passes on to another over one connection, and what is not answered there. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as delay, setImmediate } from "node:timers/promises";
import { createRpcServer, implementFor, Passes, READS_PATH, ReadLink, wallet } from "../src/index.ts";
import { BatchMac, FrameReader, mostRead, RequestBatch, responseOf } from "../src/peers/read-frames.ts";
import type { Read } from "../src/peers/read-link.ts";

const passKey = new Uint8Array(32).fill(7);
const [FROM, TO] = ["a".repeat(32), "b".repeat(32)];

type Context = { readonly name: string; readonly signal: AbortSignal; readonly restricted: boolean };

/** A process that answers reads of its objects, and counts what was done and read. */
async function startOwner(t: TestContext) {
  const seen = { stored: 0, asked: 0, passes: 0 };
  const slow = { isStarted: false, hasLeft: false, answer: () => {} };
  const calls = implementFor<Context>()(
    { getAttribute: wallet.keys.getAttribute, store: wallet.transfers.store },
    {
      getAttribute: ({ key }, { name, signal, restricted }) => {
        seen.asked += 1;
        if (key !== "slow")
          return {
            value:
              key === "long"
                ? "x".repeat(mostRead.answerBytes)
                : `${name} ${key}${restricted ? " restricted" : ""}`,
          };
        slow.isStarted = true;
        signal.addEventListener("abort", () => {
          slow.hasLeft = true;
        });
        return new Promise((resolve) => {
          slow.answer = () => resolve({ value: "slow" });
        });
      },
      store: () => {
        seen.stored += 1;
        return {};
      },
    },
  );
  const passes = new Passes(passKey);
  const server = await createRpcServer<Context>({
    calls,
    listen: [{ host: "127.0.0.1", port: 0, isForPeers: true }],
    prefix: "/things",
    context: ({ name = "", caller, restricted }) => ({ name, signal: caller.signal, restricted }),
    elsewhere: {
      passOf: (head) => {
        seen.passes += 1;
        return passes.check(head.authorization, TO, head);
      },
      answer: ({ name }) => (name === "moved" ? { status: 409, type: "text/plain", body: "" } : undefined),
    },
  });
  t.after(() => server.stop(0));
  return { address: new URL(server.urls[0]!).host, seen, slow, server };
}

const passes = new Passes(passKey);
const openingPass = (restricted = false) =>
  passes.write(
    { from: FROM, to: TO },
    { method: "POST", target: READS_PATH, idempotencyKey: undefined, mayAct: false, restricted },
    new Uint8Array(),
  );

/** Waits; rejects once the test has taken too long. */
async function until({ signal }: TestContext, isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    signal.throwIfAborted();
    await setImmediate();
  }
}

/** A link to a process, once it is open or over. */
async function open(
  t: TestContext,
  address: string,
  { restricted = false, silentLooks = 1000 } = {},
): Promise<ReadLink> {
  const authorization = openingPass(restricted);
  const { signal } = new AbortController();
  const key = passes.linkKeyOf(authorization);
  const link = new ReadLink({ address, authorization, key, signal, silentLooks });
  t.after(() => link.close());
  await until(t, () => link.isOpen || link.isOver);
  return link;
}

function read(
  name: string,
  params: object,
  { method = "get_attribute", ...more }: Partial<Read> & { method?: string } = {},
): Read {
  return {
    target: `/things/${name}/json_rpc`,
    body: Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: name, method, params })),
    restricted: false,
    id: "r-1",
    signal: new AbortController().signal,
    ...more,
  };
}

const textIn = (answer: Awaited<ReturnType<ReadLink["ask"]>>) =>
  JSON.parse(String(answer?.body)).result?.value as string | undefined;

test("each of many reads at once gets its own answer, on one connection with one pass", {
  timeout: 300_000,
}, async (t) => {
  const { address, seen, server } = await startOwner(t);
  const link = await open(t, address);
  for (let round = 0; round < 3; round++) {
    const names = Array.from({ length: mostRead.requests }, (_, i) => `thing${i}`);
    const answers = await Promise.all(names.map((name) => link.ask(read(name, { key: `k${round}` }))));
    assert.deepEqual(
      answers.map(textIn),
      names.map((name) => `${name} k${round}`),
    );
    assert.deepEqual(
      new Set(answers.map((answer) => `${answer?.status} ${answer?.type}`)),
      new Set(["200 application/json"]),
    );
  }
  assert.deepEqual([seen.passes, server.connectionCount()], [1, 1]);
  assert.deepEqual(server.usage()[0]!.requests, 0);
  assert.deepEqual(server.usage()[0]!.heldBytes, 0);
});

test("what acts is refused and not done; what another process has is said", {
  timeout: 300_000,
}, async (t) => {
  const { address, seen } = await startOwner(t);
  const link = await open(t, address);
  assert.equal((await link.ask(read("a", {}, { method: "store" })))?.status, 405);
  assert.equal(seen.stored, 0);
  assert.equal((await link.ask(read("moved", { key: "k" })))?.status, 409);
  assert.equal((await link.ask({ ...read("a", {}), target: "/json_rpc" }))?.status, 404);
  assert.match(String((await link.ask(read("a", {}, { method: "no_such" })))?.body), /-32601/);
});

test("reads are restricted where their caller is, or the process that passes them on", {
  timeout: 300_000,
}, async (t) => {
  const { address } = await startOwner(t);
  const link = await open(t, address);
  const isRestricted = { restricted: true };
  assert.equal(textIn(await link.ask(read("a", { key: "k" }))), "a k");
  assert.equal(textIn(await link.ask(read("a", { key: "k" }, isRestricted))), "a k restricted");
  const fromRestricted = await open(t, address, { restricted: true });
  assert.equal(textIn(await fromRestricted.ask(read("a", { key: "k" }))), "a k restricted");
});

test("a read that takes long keeps no other from its answer, and ends when its caller leaves", {
  timeout: 300_000,
}, async (t) => {
  const { address, slow, server } = await startOwner(t);
  const link = await open(t, address);
  const caller = new AbortController();
  const waiting = link.ask(read("a", { key: "slow" }, { signal: caller.signal }));
  assert.equal(textIn(await link.ask(read("b", { key: "k" }))), "b k");
  await until(t, () => slow.isStarted);
  caller.abort();
  assert.equal(await waiting, undefined);
  await until(t, () => slow.hasLeft);
  slow.answer();
  assert.equal(textIn(await link.ask(read("c", { key: "k" }))), "c k");
  assert.deepEqual(server.usage()[0]!.requests, 0);
});

test("what is long, or one too many, is left to a request of its own", { timeout: 300_000 }, async (t) => {
  const { address, seen, slow } = await startOwner(t);
  const link = await open(t, address);
  assert.equal(link.ask(read("a", { key: "x".repeat(mostRead.bodyBytes) })), undefined);
  assert.equal(link.ask(read("a".repeat(mostRead.targetBytes), { key: "k" })), undefined);
  assert.equal(seen.asked, 0);
  assert.equal(await link.ask(read("a", { key: "long" })), undefined);
  const waiting = Array.from({ length: mostRead.requests }, () => link.ask(read("a", { key: "slow" })));
  assert.equal(link.ask(read("a", { key: "k" })), undefined);
  await until(t, () => slow.isStarted);
  link.close();
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set([undefined]));
  assert.equal(link.ask(read("a", { key: "k" })), undefined);
});

test("what waits is left to requests of its own when the process stops", { timeout: 300_000 }, async (t) => {
  const { address, slow, server } = await startOwner(t);
  const link = await open(t, address);
  const waiting = link.ask(read("a", { key: "slow" }));
  await until(t, () => slow.isStarted);
  await server.stop(0);
  assert.equal(await waiting, undefined);
  assert.equal(link.isOver, true);
});

test("reads on a connection that nothing comes over any more are left to requests of their own", {
  timeout: 300_000,
}, async (t) => {
  const address = await startStranger(t, "HTTP/1.1 101 Switching Protocols\r\n\r\n");
  const link = await open(t, address, { silentLooks: 1 });
  assert.equal(link.isOpen, true);
  const waiting = [link.ask(read("a", { key: "k" })), link.ask(read("b", { key: "k" }))];
  assert.deepEqual(await Promise.all(waiting), [undefined, undefined]);
  assert.equal(link.isOver, true);
});

test("a read that takes much longer than a connection may be silent is waited for", {
  timeout: 300_000,
}, async (t) => {
  const { address, seen, slow } = await startOwner(t);
  const link = await open(t, address, { silentLooks: 10 });
  const waiting = link.ask(read("a", { key: "slow" }));
  await until(t, () => slow.isStarted);
  await delay(3000);
  slow.answer();
  assert.equal(textIn(await waiting), "slow");
  assert.equal(seen.passes, 1);
});

/** What a connection says that begins with these headers, and the socket once it has said something. */
async function rawLink(t: TestContext, address: string, authorization: string) {
  const [host, port] = address.split(":");
  const socket = connect(Number(port), host);
  t.after(() => socket.destroy());
  socket.write(`POST ${READS_PATH} HTTP/1.1\r\nAuthorization: ${authorization}\r\nContent-Length: 0\r\n\r\n`);
  const said = await Promise.race([
    once(socket, "data").then(([bytes]) => String(bytes)),
    once(socket, "close").then(() => ""),
  ]);
  return { said, socket };
}

const isCut = async (socket: Socket) => {
  if (!socket.closed) await once(socket.resume(), "close");
  return true;
};

test("nobody opens a link without a pass, nor with one that was used", { timeout: 300_000 }, async (t) => {
  const { address } = await startOwner(t);
  assert.equal((await rawLink(t, address, "Bearer x")).said, "");
  const pass = openingPass();
  assert.match((await rawLink(t, address, pass)).said, /^HTTP\/1\.1 101 /);
  assert.equal((await rawLink(t, address, pass)).said, "");
});

test("batches that are changed, repeated, or of another link end it, and nothing of them is read", {
  timeout: 300_000,
}, async (t) => {
  const { address, seen } = await startOwner(t);
  const batchOf = (mac: BatchMac, key: string) => {
    const batch = new RequestBatch();
    const { target, id, body } = read("a", { key });
    batch.add({ number: 1, kind: "request", target, id, body });
    return batch.take(mac);
  };
  const cases: ((mac: BatchMac) => Buffer)[] = [
    (mac) => {
      const bytes = batchOf(mac, "changed");
      bytes[bytes.length - 3]! ^= 1;
      return bytes;
    },
    () => batchOf(new BatchMac(passes.linkKeyOf(openingPass())), "of another link"),
    () => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32LE(mostRead.batchBytes + 1);
      return bytes;
    },
    () => Buffer.from([4, 0, 0, 0, 1, 2, 3, 4]),
  ];
  for (const bytesOf of cases) {
    const pass = openingPass();
    const { socket } = await rawLink(t, address, pass);
    socket.write(bytesOf(new BatchMac(passes.linkKeyOf(pass))));
    assert.equal(await isCut(socket), true);
    assert.equal(seen.asked, 0);
  }
  const pass = openingPass();
  const { socket } = await rawLink(t, address, pass);
  const once = batchOf(new BatchMac(passes.linkKeyOf(pass)), "once");
  socket.write(Buffer.concat([once, once]));
  assert.equal(await isCut(socket), true);
  assert.equal(seen.asked, 0);
});

test("a process that sends more requests than it may gets no answer to those, and is not cut", {
  timeout: 300_000,
}, async (t) => {
  const { address } = await startOwner(t);
  const pass = openingPass();
  const { socket } = await rawLink(t, address, pass);
  const mac = new BatchMac(passes.linkKeyOf(pass));
  const batch = new RequestBatch();
  const { target, id, body } = read("a", { key: "slow" });
  const count = mostRead.requests + 10;
  for (let number = 0; number < count; number++) batch.add({ number, kind: "request", target, id, body });
  const refused: number[] = [];
  const frames = new FrameReader(mostRead.answerBytes + 1024);
  socket.on("data", (bytes) => {
    for (const frame of frames.take(bytes)) {
      const { number, answer } = responseOf(frame);
      if (answer === undefined) refused.push(number);
    }
  });
  socket.write(batch.take(mac));
  await until(t, () => refused.length >= 10);
  assert.deepEqual(
    refused,
    Array.from({ length: 10 }, (_, i) => mostRead.requests + i),
  );
});

test("frames arrive in pieces of any size", () => {
  const reader = new FrameReader(100);
  const frames = [Buffer.from("one"), Buffer.alloc(0), Buffer.from("three")];
  const bytes = Buffer.concat(
    frames.map((frame) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(frame.length);
      return Buffer.concat([length, frame]);
    }),
  );
  const read: string[] = [];
  for (const byte of bytes) for (const frame of reader.take(Buffer.from([byte]))) read.push(String(frame));
  assert.deepEqual(read, ["one", "", "three"]);
});

/** A server that is none of the service and says this to each connection. */
async function startStranger(t: TestContext, said: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.write(said));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.after(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("with a process that knows no links, or says what none of the service says, reads go otherwise", {
  timeout: 300_000,
}, async (t) => {
  const older = await open(t, await startStranger(t, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"));
  assert.deepEqual([older.isOver, older.ask(read("a", { key: "k" }))], [true, undefined]);
  const longHead = await open(t, await startStranger(t, "HTTP/1.1 101 ".padEnd(10_000, "x")));
  assert.equal(longHead.isOver, true);
  const other = await open(t, await startStranger(t, "HTTP/1.1 101 Switching\r\n\r\n"));
  assert.equal(other.isOpen, true);
  const opening = "HTTP/1.1 101 Switching\r\n\r\n";
  const garbage = await open(t, await startStranger(t, `${opening}\xff\xff\xff\xff`));
  assert.equal(garbage.isOver, true);
});
