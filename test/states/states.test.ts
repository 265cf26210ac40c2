import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Dialect, walletMethods } from "@anulo/rpc";
import { call, loadChain, type RunningDaemon, startDaemon } from "@anulo/testkit";
import { isOfState, refusalOf } from "./refusals.ts";
import { type MethodKey, requests } from "./requests.ts";
import { type Endings, endAll, startOurs } from "./start.ts";
import { ask, enterState, observe, type Service, type StateName, stateNames } from "./states.ts";

const methods = Object.keys(walletMethods) as MethodKey[];
const endings: Endings = [];
let daemon: RunningDaemon;

before(async () => {
  daemon = await startDaemon({ kind: "ours" });
  endings.push(() => daemon.stop());
  const { address } = loadChain().wallets.alice;
  await call(daemon.url, "generateblocks", { amount_of_blocks: 3, wallet_address: address });
});
after(() => endAll(endings));

/** Those that would take the wallet away under the others, or leave files behind, are tried where they are refused. */
const changesWallet: ReadonlySet<MethodKey> = new Set([
  ...["createWallet", "openWallet", "generateFromKeys", "restoreDeterministicWallet"],
  ...["closeWallet", "changeWalletPassword", "stopWallet", "setDaemon", "stopBackgroundSync"],
] as const);

async function refuses(service: Service, state: StateName, dialect: Dialect): Promise<number> {
  const seen = await observe(service);
  let count = 0;
  for (const key of methods) {
    const expected = refusalOf(key, state, dialect);
    if (expected === undefined) continue;
    const { name, aliases } = walletMethods[key];
    for (const method of [name, ...aliases]) {
      const told = await ask(service, method, requests[key]);
      assert.deepEqual(told, expected, `${method}, ${state}`);
      count++;
    }
    if (state !== "no wallet")
      assert.equal(await observe(service), seen, `${name} changed something, ${state}`);
  }
  assert.equal(await observe(service), seen);
  return count;
}

async function allows(service: Service, state: StateName, dialect: Dialect): Promise<void> {
  for (const key of methods) {
    if (refusalOf(key, state, dialect) !== undefined || changesWallet.has(key)) continue;
    const told = await ask(service, walletMethods[key].name, requests[key]);
    if ("code" in told) assert.ok(!isOfState(told), `${key}, ${state}: ${told.message}`);
  }
}

for (const dialect of ["contract", "upstream"] as const) {
  for (const state of stateNames) {
    test(`${state}, ${dialect}: what is not allowed is refused and changes nothing`, async (t) => {
      const start = startOurs(`127.0.0.1:${daemon.port}`, dialect, endings);
      const service = await enterState(state, start);
      const count = await refuses(service, state, dialect);
      await allows(service, state, dialect);
      t.diagnostic(`${count} requests refused`);
    });
  }
}
