/** Refreshes of open wallets while the system's clock is set back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Common } from "../src/many/common.ts";
import type { OpenWallets } from "../src/many/open-wallets.ts";
import { Refresher } from "../src/many/refresher.ts";
import { WalletEntry } from "../src/many/wallet-entry.ts";

const HOUR_MS = 3_600_000;
const PERIOD_SECONDS = 0.01;
const TICKS = 500;

test("a clock that is set back keeps no wallet from being refreshed", async (t) => {
  let refreshed = 0;
  const entry = new WalletEntry();
  const wallet = {
    height: 1,
    progress: undefined,
    daemon: { address: { url: "" } },
    refresh: async () => void refreshed++,
  };
  entry.opened = { wallet } as unknown as WalletEntry["opened"];
  const log = { in: () => log, info() {}, warn() {}, error: assert.fail, debug() {} };
  const refresher = new Refresher(
    { log } as unknown as Common,
    { open: [entry], openCount: 1 } as unknown as OpenWallets,
  );
  refresher.plan(entry, PERIOD_SECONDS, false);
  t.mock.timers.enable({ apis: ["Date"], now: Date.now() - HOUR_MS });
  for (let tick = 0; tick < TICKS && refreshed < 3; tick++) {
    refresher.tick();
    await delay(10);
  }
  assert.ok(refreshed >= 3);
});
