/** What the process of a fleet that has the event log answers the others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { packJson, unpackJson } from "@anulo/events";
import { type Answer, misdirected, RpcError } from "@anulo/rpc";
import { errorOf, type LogAnswer, type LogQuestion, logTarget } from "../src/fleet/events/log-requests.ts";
import { WalletRefusal } from "../src/refusal.ts";
import type { OpenEvents } from "../src/service-events.ts";

const signal = new AbortController().signal;

/** A log whose methods throw what is set here, or return it. */
function start() {
  const ended = new AbortController();
  let outcome: () => unknown = () => undefined;
  const method = async () => outcome();
  const log = {
    ended: ended.signal,
    last: 7,
    cursorOf: method,
    append: method,
    read: method,
    waitForEvent: method,
  };
  const webhooks = { list: method };
  const events = { log, webhooks } as unknown as OpenEvents;
  const target = logTarget(() => events, false);
  const ask = async (question: LogQuestion, restricted = false): Promise<Answer> =>
    (await target.answer(Buffer.from(packJson(question as never)), {
      signal,
      restricted,
    } as never)) as Answer;
  const read = async (question: LogQuestion, restricted?: boolean) =>
    unpackJson(String((await ask(question, restricted)).body)) as unknown as LogAnswer;
  const fail = (error: unknown) => {
    outcome = () => {
      throw error;
    };
  };
  const give = (value: unknown) => {
    outcome = () => value;
  };
  return { ask, read, fail, give, end: () => ended.abort() };
}

const cursor = { ask: "cursor", source: "ab" } as const;
const entry = { source: "ab", wallet: "w", change: 1, before: 0, isPart: false, events: [] };
const list = { ask: "webhooks", method: "list", params: [] } as const;

/** What is thrown, the kind of failure that the other process is told, and what it throws itself. */
const failures = [
  [new RangeError("no number"), "value", RangeError],
  [new RpcError(-5, "not now"), "refused", WalletRefusal],
  [new WalletRefusal("DENIED", "not this"), "refused", WalletRefusal],
  [new Error("no space left"), "failed", Error],
] as const;

for (const [error, kind, thrown] of failures)
  test(`another process is told of "${error.message}" as ${kind}, whatever it has asked`, async () => {
    const { read, fail } = start();
    fail(error);
    const failure = { kind, message: error.message };
    assert.deepEqual(await read(cursor), { failure });
    assert.deepEqual(await read({ ask: "append", entries: [entry, entry] }), { value: [failure, failure] });
    const again = errorOf(failure);
    assert.deepEqual([again.constructor, again.message], [thrown, error.message]);
  });

test("what is no error has no message", async () => {
  const { read, fail } = start();
  fail(5);
  assert.deepEqual(await read(cursor), { failure: { kind: "failed", message: "unknown" } });
});

test("answers carry what the log returns, null for nothing", async () => {
  const { read, give } = start();
  assert.deepEqual(await read(cursor), { value: null });
  assert.deepEqual(await read({ ask: "append", entries: [entry] }), { value: [null] });
  assert.deepEqual(await read({ ask: "wait", after: 3 }), { value: 7 });
  give(12);
  assert.deepEqual(await read(cursor), { value: 12 });
  assert.deepEqual(await read(list), { value: 12 });
});

test("a question that is none, a method that is none, and webhooks where only reading is allowed are refused", async () => {
  const { read } = start();
  const kindOf = ({ failure }: LogAnswer) => failure?.kind;
  assert.equal(kindOf(await read({ ask: "what" } as never)), "value");
  assert.equal(kindOf(await read({ ...list, method: "constructor" } as never)), "value");
  assert.equal(kindOf(await read(list, true)), "refused");
});

test("a process without a log, or whose log has ended meanwhile, sends the others on", async () => {
  const nobody = logTarget(() => undefined, false);
  assert.equal(await nobody.answer(Buffer.from("{}"), { signal, restricted: false } as never), misdirected);
  const { ask, fail, end } = start();
  fail(new Error("closed"));
  end();
  assert.equal(await ask(cursor), misdirected);
});
