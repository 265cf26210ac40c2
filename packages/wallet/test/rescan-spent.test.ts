import assert from "node:assert/strict";
import { test } from "node:test";
import { rescanSpent } from "../src/actions/cold-exchange.ts";
import type { WalletChange } from "../src/changes.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { SOMEBODY } from "../src/outputs/owned-output.ts";
import { isUnspent } from "../src/unlock.ts";
import type { Wallet } from "../src/wallet.ts";
import { bytes, ledgerOf } from "./many-outputs.ts";

const COUNT = 1500;
/** In the first request to the node and in the second. */
const PLACES = [3, 1400];

const UNSPENT = 0;
const SPENT_IN_CHAIN = 1;
const SPENT_IN_POOL = 2;

/** A wallet whose outputs all have key images, and a node; `onRequest`: before it answers that all have one status. */
function createWallet(onRequest: (request: number) => void, statusIn: (request: number) => number) {
  const ledger = ledgerOf({ count: COUNT, amount: () => 5n, addresses: 1 });
  const { outputs } = ledger.state;
  for (let place = 0; place < COUNT; place++) outputs.learnKeyImage(place, bytes(32));
  let requests = 0;
  const isKeyImageSpent = async ({ key_images }: { key_images: string[] }) => {
    onRequest(requests);
    const status = statusIn(requests++);
    return { spent_status: key_images.map(() => status), status: "OK" };
  };
  const sizes: number[] = [];
  const commit = async (change: WalletChange) => {
    if (change.kind === "spent") sizes.push(change.status.length);
    applyChange(ledger, change);
  };
  const wallet = { state: ledger.state, daemon: { client: { isKeyImageSpent } }, commit };
  return { outputs, sizes, wallet: wallet as unknown as Wallet };
}

test("outputs that the node does not know as spent are free again", async () => {
  const { outputs, wallet } = createWallet(
    () => undefined,
    () => UNSPENT,
  );
  for (const place of PLACES) outputs.spend(place, 100);
  await rescanSpent(wallet);
  for (const place of PLACES) assert.ok(isUnspent(outputs.at(place)!));
});

for (const request of [0, 1]) {
  test(`a spend that a scan finds during request ${request} is not undone by what the node said before`, async () => {
    const { outputs, wallet } = createWallet(
      (each) => {
        if (each === request) for (const place of PLACES) outputs.spend(place, 100);
      },
      () => UNSPENT,
    );
    await rescanSpent(wallet);
    for (const place of PLACES.slice(0, 1 + request)) assert.ok(!isUnspent(outputs.at(place)!));
  });
}

test("what was in the pool when the node was asked, and in a block since, stays in the block", async () => {
  const [place] = PLACES;
  const { outputs, wallet } = createWallet(
    (request) => {
      if (request === 1) outputs.spend(place!, 100);
    },
    (request) => (request === 0 ? SPENT_IN_POOL : UNSPENT),
  );
  await rescanSpent(wallet);
  assert.equal(outputs.at(place!)!.spentHeight, 100);
});

test("what a node says is kept some outputs at a time, before it is asked for others", async () => {
  const { outputs, sizes, wallet } = createWallet(
    (request) => {
      const spent = outputs.slice(0).filter((output) => !isUnspent(output)).length;
      assert.equal(spent, 1000 * request);
      if (request === 1) throw new Error("the node is gone");
    },
    () => SPENT_IN_CHAIN,
  );
  await assert.rejects(rescanSpent(wallet), /the node is gone/);
  assert.ok(sizes.length >= 4 && Math.max(...sizes) <= 256, `${sizes}`);
  const spent = outputs.slice(0).filter(({ spentHeight }) => spentHeight !== undefined);
  assert.equal(spent.length, 1000);
});

test("what a scan finds between two changes of one response stays", async () => {
  const { outputs, wallet } = createWallet(
    () => undefined,
    () => UNSPENT,
  );
  for (let place = 0; place < 300; place++) outputs.reserve(place, SOMEBODY);
  const { commit } = wallet;
  let changes = 0;
  wallet.commit = async (change) => {
    await commit(change);
    if (changes++ > 0) return;
    // What waited in the pool is free by now, and spent by another.
    outputs.reserve(290, undefined);
    outputs.spend(290, 100);
    outputs.spend(291, 100);
    outputs.reserve(291, undefined);
  };
  await rescanSpent(wallet);
  assert.deepEqual([changes, outputs.at(299)!.pendingSpend], [2, undefined]);
  for (const place of [290, 291]) assert.equal(outputs.at(place)!.spentHeight, 100);
});
