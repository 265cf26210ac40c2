/** Tasks that change a wallet's files wait for their turn: by then another wallet may be the open one. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startTestService } from "./service.ts";

/** A service with wallets "main", "other" and "a", of which "a" is open. */
async function startThree(t: TestContext) {
  const { call, folder, service } = await startTestService({}, t);
  const addresses: string[] = [];
  for (const filename of ["main", "other", "a"]) {
    await call.createWallet({ filename, password: "", language: "English" });
    addresses.push((await call.getAddress({ account_index: 0 })).address);
  }
  const keysOf = (name: string) => readFileSync(join(folder, `${name}.keys`));
  return { call, service, keysOf, main: addresses[0]! };
}

const notOpen = { code: -13 };

test("a key exchange that waited while another wallet was opened changes neither", async (t) => {
  const { call, keysOf, main } = await startThree(t);
  await call.openWallet({ filename: "other", password: "" });
  const { multisig_info } = await call.prepareMultisig({});
  await call.openWallet({ filename: "a", password: "" });
  const before = [keysOf("a"), keysOf("main")];
  const opening = call.openWallet({ filename: "main", password: "" });
  await assert.rejects(
    call.makeMultisig({ multisig_info: [multisig_info], threshold: 2, password: "" }),
    notOpen,
  );
  await opening;
  assert.deepEqual([keysOf("a"), keysOf("main")], before);
  assert.equal((await call.getAddress({ account_index: 0 })).address, main);
  assert.equal((await call.isMultisig({})).multisig, false);
});

test("a new password that waited while another wallet was opened is set for neither", async (t) => {
  const { call, keysOf } = await startThree(t);
  const before = [keysOf("a"), keysOf("main")];
  const opening = call.openWallet({ filename: "main", password: "" });
  await assert.rejects(call.changeWalletPassword({ old_password: "", new_password: "new" }), notOpen);
  await opening;
  assert.deepEqual([keysOf("a"), keysOf("main")], before);
});

test("who may replace the open wallet is asked about the one that is open by then", async (t) => {
  const { call, service, main } = await startThree(t);
  const { unnamed } = service;
  const asked: string[] = [];
  const check = (openName: string) => {
    asked.push(openName);
    if (openName === "main") throw new Error("not this one");
  };
  const opening = unnamed.open("main", "");
  await assert.rejects(unnamed.open("other", "", check), /not this one/);
  await assert.rejects(unnamed.close(check), /not this one/);
  await assert.rejects(
    unnamed.makingInTurn(async () => undefined, check),
    /not this one/,
  );
  await opening;
  assert.deepEqual(asked, ["main", "main", "main"]);
  assert.equal((await call.getAddress({ account_index: 0 })).address, main);
});
