/** What a change of the pool that fails leaves behind. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { transact } from "../src/pool/parts.ts";

test("a change that fails is undone in the pool, and the state is read again", () => {
  const done: string[] = [];
  const parts = {
    store: { write: (change: (writer: unknown) => unknown) => change("writer") },
    state: { view: () => undefined, reload: () => void done.push("reload") },
    pool: {
      undoable<T>(run: () => T): T {
        done.push("begin");
        return run();
      },
    },
  };
  const made = transact(parts as never, (writer) => `by the ${writer}`);
  assert.deepEqual([made, done], ["by the writer", ["begin"]]);
  const failing = () =>
    transact(parts as never, () => {
      throw new Error("the disk is full");
    });
  assert.throws(failing, /the disk is full/);
  assert.deepEqual(done, ["begin", "begin", "reload"]);
});
