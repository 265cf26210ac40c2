/** What one process of a service accepts from another, and from nobody else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isBodyOf, Passes } from "../src/peers/pass.ts";

const key = new Uint8Array(32).fill(1);
const [a, b] = ["a".repeat(32), "b".repeat(32)] as const;
const head = { method: "POST", target: "/wallets/w/json_rpc", idempotencyKey: "once" };
const passed = { ...head, mayAct: true, restricted: true };
const body = Buffer.from("{}");

test("a pass is good once, for its receiver, its request and its body", () => {
  const sender = new Passes(key);
  const receiver = new Passes(key);
  const pass = sender.write({ from: a, to: b }, passed, body);
  assert.equal(receiver.check(pass, a, head), "misdirected");
  assert.equal(receiver.check(pass, undefined, head), "misdirected", "it has not joined");
  assert.equal(receiver.check(pass.replace(`to=${b}`, `to=${a}`), a, head), undefined);
  for (const other of [
    { ...head, target: "/wallets/v/json_rpc" },
    { ...head, method: "GET" },
    { ...head, idempotencyKey: "twice" },
    { ...head, idempotencyKey: undefined },
  ])
    assert.equal(receiver.check(pass, b, other), undefined);
  assert.equal(receiver.check(pass.replace("act=1", "act=0"), b, head), undefined);
  assert.equal(receiver.check(pass.replace("restricted=1", "restricted=0"), b, head), undefined);
  assert.equal(receiver.check(pass.replace(/body=./, "body=0"), b, head), undefined);
  assert.equal(new Passes(new Uint8Array(32).fill(2)).check(pass, b, head), undefined, "it has another key");
  const checked = receiver.check(pass, b, head);
  assert.ok(checked !== "misdirected" && checked?.mayAct === true);
  assert.equal(checked.restricted, true);
  assert.ok(isBodyOf(checked, body) && !isBodyOf(checked, Buffer.from("{ }")));
  assert.equal(receiver.check(pass, b, head), undefined, "it was used");
  for (const none of [undefined, "", "Digest username=x", `${pass} `])
    assert.equal(receiver.check(none, b, head), undefined);
});

test("passes may overtake one another, but none is good once it is long past", () => {
  const sender = new Passes(key);
  const receiver = new Passes(key);
  const all = Array.from({ length: 10_000 }, () => sender.write({ from: a, to: b }, passed, body));
  const isGood = (i: number) => receiver.check(all[i], b, head) !== undefined;
  assert.ok(isGood(10) && isGood(5) && isGood(4000) && isGood(6));
  for (let i = 4001; i < 10_000; i++) assert.ok(isGood(i));
  assert.ok(!isGood(7) && !isGood(10) && !isGood(9999));
});

const idOf = (i: number) => i.toString(16).padStart(32, "0");

test("a pass of a process that many others have followed is not good again", () => {
  const receiver = new Passes(key);
  const passes = Array.from({ length: 600 }, (_, i) =>
    new Passes(key).write({ from: idOf(i), to: b }, passed, body),
  );
  for (const pass of passes) assert.ok(receiver.check(pass, b, head));
  for (const pass of passes) assert.equal(receiver.check(pass, b, head), undefined);
});

test("a process that is silent while many others join and leave is heard once it speaks", () => {
  const receiver = new Passes(key);
  const [silent, former] = [new Passes(key), new Passes(key)];
  const write = (passes: Passes, i: number) => passes.write({ from: idOf(i), to: b }, passed, body);
  const first = write(silent, 0);
  receiver.useMembers(new Set([idOf(0), b]));
  for (const pass of [first, write(former, 1)]) assert.ok(receiver.check(pass, b, head));
  for (let i = 2; i < 1000; i++) assert.ok(receiver.check(write(new Passes(key), i), b, head));
  assert.equal(receiver.check(first, b, head), undefined, "it was used");
  assert.ok(receiver.check(write(silent, 0), b, head));
  assert.equal(receiver.check(write(former, 1), b, head), undefined, "it has left");
});
