/** What a caller is told where the system, or the store, lets nothing be written. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreUnavailable } from "@anulo/store";
import { mayBeWrittenLater, refuseUnwritten, whyUnwritten } from "../src/file/unwritten.ts";
import { UnwrittenStore, WalletRefusal } from "../src/refusal.ts";

const failure = (code: string) => Object.assign(new Error("write failed"), { code });
const codes = ["EDQUOT", "EFBIG", "EROFS", "EACCES", "EPERM"];

test("a file that cannot be written is a refusal that names why, and nothing else is", () => {
  const told = new Map([...codes, "EIO"].map((code) => [code, code])).set(
    "ENOSPC",
    "no space is left on the disk",
  );
  for (const [code, why] of told) {
    assert.equal(mayBeWrittenLater(failure(code)), true);
    assert.throws(
      () => refuseUnwritten(failure(code)),
      (error) =>
        error instanceof WalletRefusal &&
        error.kind === "UNKNOWN_ERROR" &&
        error.message.startsWith(`The wallet's files cannot be written: ${why}. `),
    );
  }
  for (const other of [failure("ENOENT"), new Error("a bug"), "a bug"]) {
    assert.equal(mayBeWrittenLater(other), false);
    assert.throws(
      () => refuseUnwritten(other),
      (error) => error === other,
    );
  }
});

test("a store that cannot be written says why as far as its cause does", () => {
  const why = (cause?: unknown) => whyUnwritten(new StoreUnavailable("not written", { cause }));
  for (const code of codes) assert.equal(why(failure(code)), code);
  assert.equal(why(failure("ENOSPC")), "no space is left on the disk");
  assert.equal(why(failure("EIO")), "the disk is full, or fails");
  assert.equal(why(failure("25006")), "the database is read-only");
  assert.equal(why(failure("53300")), "the database has no connection left");
  for (const other of [undefined, failure("ECONNREFUSED")])
    assert.equal(why(other), "it is out of reach, or full");
  assert.throws(
    () => refuseUnwritten(new StoreUnavailable("not written", { cause: failure("EROFS") })),
    (error) => error instanceof UnwrittenStore && /store cannot be written: EROFS\. /.test(error.message),
  );
});
