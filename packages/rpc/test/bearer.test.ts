/** Tokens in front of any service, and the part of it that each may take. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { whenReady } from "@anulo/limits";
import {
  type Bearer,
  createRpcServer,
  daemon,
  defaultLimits,
  implementFor,
  type Limits,
  type RequestInfo,
  type TokenAuth,
} from "../src/index.ts";
import { CallerShare } from "../src/server/caller-share.ts";

/** Tokens are known by their text, and allow all or nothing. */
function tokensOf(...ids: string[]): TokenAuth & { readonly refused: string[] } {
  const refused: string[] = [];
  const bearerOf = (id: string): Bearer => ({
    id,
    ended: new AbortController().signal,
    allows: () => id !== "poor",
    mayUse: (name) => name === id,
    onRefused: (what) => refused.push(what),
  });
  return { refused, check: (text) => (ids.includes(text) ? bearerOf(text) : undefined) };
}

async function start(t: TestContext, tokens: TokenAuth) {
  const seen: (string | undefined)[] = [];
  const calls = implementFor<RequestInfo>()(
    { getVersion: daemon.admin.getVersion },
    {
      getVersion: (_, { bearer }) => {
        seen.push(bearer?.id);
        return { status: "OK", version: 1, release: true, current_height: 0, hard_forks: [] } as never;
      },
    },
  );
  const server = await createRpcServer<RequestInfo>({
    calls,
    tokens,
    prefix: "/wallets",
    listen: [{ host: "127.0.0.1", port: 0 }],
    context: (request) => request,
  });
  t.after(() => server.stop(0));
  const post = (token: string | undefined, path = "/json_rpc") =>
    fetch(server.urls[0]! + path, {
      method: "POST",
      body: JSON.stringify({ id: 0, method: "get_version" }),
      headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    });
  return { seen, post };
}

test("a handler knows whose token it was, of each request of a connection by itself", async (t) => {
  const { seen, post } = await start(t, tokensOf("a", "b"));
  for (const id of ["a", "b", "a"]) assert.equal((await post(id)).status, 200);
  assert.equal((await post("c")).status, 401);
  assert.equal((await post(undefined)).status, 401, "without a login only tokens are let in");
  assert.deepEqual(seen, ["a", "b", "a"]);
});

test("what a token does not allow is refused before its params are looked at, and told", async (t) => {
  const tokens = tokensOf("poor", "a");
  const { seen, post } = await start(t, tokens);
  assert.match(await (await post("poor")).text(), /-403/);
  assert.equal((await post("a", "/wallets/a/json_rpc")).status, 200);
  assert.equal((await post("a", "/wallets/b/json_rpc")).status, 403);
  assert.deepEqual(tokens.refused, ["get_version", "wallet"]);
  assert.equal(seen.length, 1);
});

const shareOf = (limits: Partial<Limits>) =>
  new CallerShare({ ...defaultLimits, ...limits }, { isForStrangers: false });

function callersOf(share: CallerShare, ...tokens: string[]) {
  return tokens.map((token) => {
    const caller = share.open("127.0.0.1");
    share.identify(caller, token);
    return caller;
  });
}

test("of requests, streams and long calls one token takes half at most, and leaves the next its part", async () => {
  // Calls that are not admitted wait no longer than that: they would keep this process.
  const share = shareOf({ requests: 12, streams: 12, expensiveCalls: 12, slowMs: 100 });
  const [a, b, c] = callersOf(share, "a", "b", "c");
  const taken = (begin: () => boolean) => {
    let count = 0;
    while (begin()) count++;
    return count;
  };
  assert.deepEqual(
    [a, b, c].map((caller) => taken(() => share.begin(caller!))),
    [6, 3, 2],
  );
  const other = share.open("127.0.0.1");
  assert.ok(share.begin(other), "who has the login is no token");
  assert.deepEqual(
    [a, b, c].map((caller) => taken(() => share.beginStream(caller!))),
    [6, 3, 2],
  );
  const cost = { requestBytes: 1, memoryBytes: 1, rows: 1_000_000, responseBytes: 1 };
  let admitted = 0;
  for (let i = 0; i < 12; i++) void whenReady(share.admit(a!, cost), (made) => (admitted += made ? 1 : 0));
  await new Promise(setImmediate);
  assert.equal(admitted, 6);
  assert.ok(await share.admit(b!, cost), "the other's calls do not wait for it");
});

test("memory that one token takes is not lacking to another", () => {
  const share = shareOf({ heldBytes: 1000 });
  const [a, b] = callersOf(share, "a", "b");
  assert.equal(a!.use.responseBytes.reserve(251), undefined);
  assert.ok(a!.use.responseBytes.reserve(250));
  assert.ok(b!.use.responseBytes.reserve(250));
});

test("a connection that changes its token, as those of proxies do, counts for each in its time", () => {
  const share = shareOf({ requests: 4 });
  const caller = share.open("127.0.0.1");
  for (const token of ["a", "b", undefined, "a"]) {
    share.identify(caller, token);
    assert.ok(share.begin(caller));
    assert.ok(caller.request.resize(10));
    caller.request.resize(0);
    share.end(caller);
  }
  caller.leave();
  assert.equal(share.heldBytes, 0);
  assert.equal(share.requests, 0);
});

test("who sends one request waits for one of each other token, however many those have sent", async () => {
  const share = shareOf({});
  const [flood, other] = callersOf(share, "flood", "other");
  const order: string[] = [];
  const begin = (name: string, caller: typeof flood) =>
    whenReady(share.turn(caller!), () => {
      order.push(name);
      const from = performance.now();
      while (performance.now() - from < 3);
    });
  const all = Array.from({ length: 200 }, () => begin("flood", flood));
  const mine = begin("other", other);
  await mine;
  const before = order.indexOf("other");
  // What began while there was time in this turn, and one more.
  assert.ok(before <= 6, `${before} of the others came first`);
  await Promise.all(all);
  assert.equal(order.length, 201);
});
