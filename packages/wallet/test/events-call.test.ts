/** The answer to a call for events, and what a stream of them passes on, with a log in memory. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventPage, EventQuery } from "@anulo/events";
import { HttpError, type ResourceAnswer, wrongWallet } from "@anulo/rpc";
import { WalletRefusal } from "../src/refusal.ts";
import { walletResourceHandlers } from "../src/rpc/events.ts";
import type { WalletContext } from "../src/service.ts";

const [{ handler }] = walletResourceHandlers as [(typeof walletResourceHandlers)[number]];
const stream = "text/event-stream";

type Parts = {
  readonly name?: string;
  readonly token?: object;
  readonly after?: number;
  readonly types?: string;
  readonly wallet?: string;
  readonly accept?: string;
  readonly lastEventId?: string;
  readonly signal?: AbortSignal;
};

/** A log with events 1 to `last` of the wallets a and b in turn; `reads`: what it was asked. */
function createLog(last: number) {
  const reads: EventQuery[] = [];
  const waits: number[] = [];
  const ending = new AbortController();
  const log = {
    last,
    ended: ending.signal,
    wake: (() => undefined) as () => void,
    read: async (query: EventQuery): Promise<EventPage> => {
      reads.push(query);
      const numbers = Array.from({ length: log.last }, (_, i) => i + 1);
      const events = numbers
        .filter((sequence) => sequence > query.after)
        .slice(0, query.limit)
        .map((sequence) => ({ sequence, wallet: sequence % 2 === 1 ? "a" : "b", type: "note" }));
      return { events: events as never, next: events.at(-1)?.sequence ?? query.after, oldest: 1 };
    },
    waitForEvent: (after: number, signal: AbortSignal) => {
      waits.push(after);
      return new Promise<void>((resolve) => {
        log.wake = resolve;
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve());
      });
    },
  };
  return { log, reads, waits, end: () => ending.abort() };
}

async function ask(log: object | string, parts: Parts = {}): Promise<ResourceAnswer> {
  const { name, token, after = 0, types, wallet, accept, lastEventId } = parts;
  const service = { name, serviceEvents: typeof log === "string" ? log : { log } };
  const context = { service, token } as unknown as WalletContext;
  const query = { after, limit: 7, types, wallet } as never;
  const signal = parts.signal ?? new AbortController().signal;
  return await handler(context, query, { accept, lastEventId, signal } as never);
}

async function readStream(answer: ResourceAnswer, count: number): Promise<string[]> {
  const ids: string[] = [];
  if (!("events" in answer)) throw new Error("no stream");
  for await (const { id } of answer.events) if (ids.push(id!) === count) break;
  return ids;
}

/** Codes of a refusal: a wrong question, no events. */
const codes: Readonly<Record<number, number>> = { 400: -32602, 503: -1 };

const refused =
  (status: number, message: RegExp, code = codes[status]) =>
  (error: unknown) => {
    assert.ok(error instanceof HttpError);
    assert.deepEqual([error.status, error.code], [status, code]);
    return message.test(error.message);
  };

test("one page is read as it was asked for", async () => {
  const { log, reads } = createLog(9);
  const answer = await ask(log, { after: 1 });
  assert.ok("json" in answer);
  const { events, next, oldest } = answer.json as unknown as EventPage;
  assert.deepEqual([events.length, next, oldest], [7, 8, 1]);
  await ask(log, { wallet: "a", types: "note,time" });
  await ask(log, { name: "b" });
  await ask(log, { name: "b", wallet: "b" });
  assert.deepEqual(reads, [
    { after: 1, limit: 7 },
    { after: 0, limit: 7, wallet: "a", types: new Set(["note", "time"]) },
    { after: 0, limit: 7, wallet: "b" },
    { after: 0, limit: 7, wallet: "b" },
  ]);
  await assert.rejects(ask(log, { name: "b", wallet: "a" }), refused(400, /the path names another/));
});

test("without a log, or with one that has ended, there is nothing to be read", async () => {
  await assert.rejects(ask("no events are kept"), refused(503, /^no events are kept$/));
  const { log, end } = createLog(9);
  end();
  await assert.rejects(ask(log), refused(503, /has ended/));
  const read = (error: Error) => async () => Promise.reject(error);
  const unownedError = new WalletRefusal("UNOWNED", "nobody has it");
  const unowned = { ...createLog(0).log, read: read(unownedError) };
  await assert.rejects(ask(unowned), refused(503, /^nobody has it$/, unownedError.code));
  await assert.rejects(ask({ ...unowned, read: read(new RangeError("a fault")) }), RangeError);
});

test("a stream begins behind the last event its reader has, in place of the number in the query", async () => {
  const { log } = createLog(300);
  const begin = (parts: Parts) => ask(log, { accept: `a, ${stream}`, after: 2, ...parts });
  assert.deepEqual(await readStream(await begin({}), 1), ["3"]);
  assert.deepEqual(await readStream(await begin({ lastEventId: "" }), 1), ["3"]);
  assert.deepEqual(await readStream(await begin({ lastEventId: "0" }), 1), ["1"]);
  assert.deepEqual(await readStream(await begin({ lastEventId: "110" }), 2), ["111", "112"]);
  await begin({ lastEventId: "9".repeat(15) });
  for (const lastEventId of ["9".repeat(16), "-1", "1.5", "x", " 1", "1x"])
    await assert.rejects(begin({ lastEventId }), refused(400, /a sequence number is expected/), lastEventId);
  const page = await ask(log, { after: 2, lastEventId: "x" });
  assert.ok("json" in page, "only a stream is gone on with");
});

test("a stream waits for events once it has passed on all there are, and ends with its reader", async () => {
  const { log, reads, waits } = createLog(150);
  const leaving = new AbortController();
  const answer = await ask(log, { accept: stream, wallet: "a", signal: leaving.signal });
  assert.ok("events" in answer);
  const events = answer.events[Symbol.asyncIterator]();
  for (let id = 1; id <= 150; id++) {
    const { value } = await events.next();
    assert.deepEqual([value.id, value.event], [`${id}`, "note"]);
    assert.equal((JSON.parse(value.data) as { sequence: number }).sequence, id);
  }
  assert.deepEqual(waits, []);
  const next = events.next();
  while (waits.length === 0) await new Promise(setImmediate);
  log.last = 151;
  log.wake();
  assert.equal((await next).value.id, "151");
  const last = events.next();
  while (waits.length === 1) await new Promise(setImmediate);
  leaving.abort();
  assert.equal((await last).done, true);
  assert.deepEqual(waits, [150, 151]);
  assert.deepEqual(
    reads.map(({ after, limit, wallet }) => [after, limit, wallet]),
    [0, 100, 150, 150, 151].map((after) => [after, 100, "a"]),
  );
});

/** A token of the wallets whose names begin with a letter. */
function tokenOf(
  letter: string,
  { isValid = true, isForAll = false, scopes = ["read"], secondsLeft = 60 } = {},
) {
  const ending = new AbortController();
  const token = {
    isValid,
    isForAll,
    secondsLeft,
    ended: ending.signal,
    allows: (scope: string) => scopes.includes(scope),
    covers: (wallet: string) => wallet.startsWith(letter),
  };
  return { token, end: () => ending.abort() };
}

test("a token sees the wallets it covers, and the service's own events if it may do everything", async () => {
  const seen = async (token: object) => {
    const { log, reads } = createLog(1);
    await ask(log, { token });
    const { accepts } = reads[0]!;
    return ["a", "b", ""].filter((wallet) => accepts!(wallet));
  };
  assert.deepEqual(await seen(tokenOf("a").token), ["a"]);
  assert.deepEqual(await seen(tokenOf("a", { isValid: false }).token), []);
  assert.deepEqual(await seen(tokenOf("", { isForAll: true }).token), ["a", "b"]);
  assert.deepEqual(await seen(tokenOf("", { scopes: ["admin"] }).token), ["a", "b"]);
  assert.deepEqual(await seen(tokenOf("", { isForAll: true, scopes: ["admin"] }).token), ["a", "b", ""]);
  const { log } = createLog(1);
  const { token } = tokenOf("a");
  await assert.rejects(ask(log, { token, wallet: "b" }), refused(403, /./, wrongWallet().code));
  await ask(log, { token, wallet: "a" });
  await ask(log, { token, name: "b" });
});

test("a stream ends with its token, when that is revoked and when it expires", async (t) => {
  // Nothing else does while a stream waits for its token to expire.
  const keepsRunning = setInterval(() => undefined, 1000);
  t.after(() => clearInterval(keepsRunning));
  for (const secondsLeft of [Number.POSITIVE_INFINITY, 2 ** 31]) {
    const { token, end } = tokenOf("", { secondsLeft });
    const { log } = createLog(1);
    const answer = await ask(log, { accept: stream, token });
    assert.ok("events" in answer);
    const events = answer.events[Symbol.asyncIterator]();
    assert.equal((await events.next()).done, false);
    end();
    assert.equal((await events.next()).done, true);
    const leaving = new AbortController();
    leaving.abort();
    const left = await ask(log, { accept: stream, token: tokenOf("").token, signal: leaving.signal });
    assert.deepEqual(await readStream(left, 1), []);
  }
  for (const secondsLeft of [0.001, 0, -5]) {
    const { log } = createLog(0);
    const answer = await ask(log, { accept: stream, token: tokenOf("", { secondsLeft }).token });
    assert.deepEqual(await readStream(answer, 1), [], "it has ended by itself");
  }
});

test("the timer of a stream is that of its token, none for one that never expires", async (t) => {
  const timeout = t.mock.method(AbortSignal, "timeout");
  const { log } = createLog(0);
  for (const secondsLeft of [Number.POSITIVE_INFINITY, 60, 2 ** 31, 0, -5])
    await ask(log, { accept: stream, token: tokenOf("", { secondsLeft }).token });
  await ask(log, { accept: stream });
  assert.deepEqual(
    timeout.mock.calls.map((call) => call.arguments),
    [[60_000], [2 ** 31 - 1], [0], [0]],
  );
});
