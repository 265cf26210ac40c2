import assert from "node:assert/strict";
import { test } from "node:test";
import { EventReader, StreamTooLong } from "../src/sse.ts";

const text =
  ': hello\n\nid: 1\nevent: a\ndata: {"x":\ndata: 1}\n\r\nid: 2\r\ndata:two\r\rdata\n\nretry: 5\n\n';
const events = [
  { id: "1", event: "a", data: '{"x":\n1}' },
  { id: "2", event: "", data: "two" },
  { id: "2", event: "", data: "" },
];

test("events are read, however their text is cut", () => {
  for (let size = 1; size <= text.length; size++) {
    const reader = new EventReader();
    const found = [];
    for (let at = 0; at < text.length; at += size) found.push(...reader.push(text.slice(at, at + size)));
    assert.deepEqual(found, events, `pieces of ${size}`);
  }
});

test("a line or an event without end is refused", () => {
  const piece = "x".repeat(100_000);
  const endless = new EventReader();
  assert.throws(() => {
    for (let i = 0; i < 20; i++) endless.push(piece);
  }, StreamTooLong);
  const lines = new EventReader();
  assert.throws(() => {
    for (let i = 0; i < 20; i++) lines.push(`data: ${piece}\n`);
  }, StreamTooLong);
});

test("an event of empty lines without end is refused", () => {
  const reader = new EventReader();
  assert.throws(() => {
    for (let i = 0; i < 20; i++) reader.push("data\n".repeat(100_000));
  }, StreamTooLong);
});
