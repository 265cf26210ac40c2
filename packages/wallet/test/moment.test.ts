/** Until when the answers that a wallet has computed before are still true. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Daemon } from "../src/daemon.ts";
import type { ChangeLog } from "../src/file/store.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { closeRuntime, createRuntime } from "../src/runtime.ts";
import { Wallet } from "../src/wallet.ts";
import { receive, seededRandom } from "./transfer-fixture.ts";

const START = 1_700_000_000;

/** A wallet that is opened with an output of this unlock time, and whether it is the same moment a second later. */
async function isSameLater(unlockTime: bigint): Promise<boolean> {
  let seconds = START;
  const runtime = createRuntime({ concurrency: 0, clock: () => seconds });
  const random = seededRandom("moment");
  const keys = createKeys(random);
  const ledger = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
  ledger.state.outputs.push({ ...receive(keys, { amount: 9n, globalIndex: 1 }, random), unlockTime });
  const log = { append: async () => undefined, refuse: () => undefined, close: async () => undefined };
  const parts = { keys, ledger, log: log as unknown as ChangeLog, daemon: {} as Daemon, runtime };
  const wallet = new Wallet(parts);
  try {
    const { moment } = wallet;
    assert.equal(wallet.moment, moment, "nothing has changed");
    seconds += 1;
    const isSame = wallet.moment === moment;
    await wallet.commit({ kind: "attribute", key: "shop", value: "open" });
    assert.notEqual(wallet.moment, moment, "a change has come");
    return isSame;
  } finally {
    await wallet.close();
    await closeRuntime(runtime);
  }
}

test("time alone changes an answer only where something is locked until a time", async () => {
  assert.equal(await isSameLater(0n), true);
  assert.equal(await isSameLater(499_999_999n), true, "a height");
  assert.equal(await isSameLater(500_000_000n), false);
  assert.equal(await isSameLater(BigInt(START + 100)), false);
});
