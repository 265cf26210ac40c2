/** How the service asks its node for its newest block, while many wallets are open. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Common } from "../src/many/common.ts";
import type { OpenWallets } from "../src/many/open-wallets.ts";
import { Refresher } from "../src/many/refresher.ts";
import { WalletEntry } from "../src/many/wallet-entry.ts";
import { WalletRefusal } from "../src/refusal.ts";

const HOUR_SECONDS = 3600;
const url = "http://127.0.0.1:18081";

/** Wallets at one node, whose refreshes are counted, and a node that answers when it is told to. */
function scene(count: number) {
  const questions: { answer(hash: string): void; fail(error: Error): void }[] = [];
  const begun: number[] = [];
  const open = Array.from({ length: count }, (_, i) => {
    const entry = new WalletEntry();
    const wallet = {
      height: 1,
      progress: undefined,
      daemon: { address: { url } },
      refresh: async () => void begun.push(i),
    };
    entry.opened = { wallet } as unknown as WalletEntry["opened"];
    return entry;
  });
  const getHeight = () =>
    new Promise((resolve, reject) => {
      questions.push({ answer: (hash) => resolve({ height: 1, hash }), fail: reject });
    });
  const errors: string[] = [];
  const log = { in: () => log, info() {}, warn() {}, error: (text: string) => errors.push(text), debug() {} };
  let closed = 0;
  const connect = () => ({ address: { url }, getHeight, close: () => void closed++ });
  const refresher = new Refresher(
    { log, connect } as unknown as Common,
    { open, openCount: count } as unknown as OpenWallets,
  );
  for (const entry of open) refresher.plan(entry, 20, false);
  return { refresher, open, questions, begun, errors, closed: () => closed };
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await nextTurn();
};

test("one question is with the node at a time, and its news refresh each wallet once", async () => {
  const { refresher, questions, begun } = scene(8);
  const first = refresher.askForNews();
  await refresher.askForNews();
  await refresher.askForNews();
  assert.equal(questions.length, 1);
  questions[0]!.answer("a");
  await first;
  await turns();
  assert.deepEqual(begun.splice(0), [0, 1, 2, 3, 4, 5, 6, 7]);
  const second = refresher.askForNews();
  assert.equal(questions.length, 2, "the next one is asked once the first is answered");
  questions[1]!.answer("a");
  await second;
  await turns();
  assert.deepEqual(begun, [], "that is no news");
});

test("news that come while a wallet is refreshed refresh it once more", async () => {
  const { refresher, open, questions, begun } = scene(8);
  open[3]!.isRefreshing = true;
  const asked = refresher.askForNews();
  questions[0]!.answer("a");
  await asked;
  await turns();
  assert.deepEqual(begun.splice(0), [0, 1, 2, 4, 5, 6, 7]);
  assert.deepEqual(
    open.map(({ hasNews }) => hasNews),
    open.map((entry) => entry === open[3]),
  );
});

test("the connection on which news are asked for is closed with the service, if there is one", async () => {
  const { refresher, questions, closed } = scene(8);
  refresher.close();
  assert.equal(closed(), 0);
  const asked = refresher.askForNews();
  questions[0]!.answer("a");
  await asked;
  refresher.close();
  assert.equal(closed(), 1);
});

test("a node that gives no answer is asked again, and few wallets ask nothing", async () => {
  const { refresher, questions, begun, errors } = scene(8);
  const first = refresher.askForNews();
  questions[0]!.fail(new WalletRefusal("NO_DAEMON_CONNECTION", "no connection to daemon"));
  await first;
  assert.deepEqual(errors, []);
  const second = refresher.askForNews();
  questions[1]!.fail(new TypeError("a bug"));
  await second;
  assert.equal(errors.length, 1);
  const third = refresher.askForNews();
  questions[2]!.answer("a");
  await third;
  await turns();
  assert.equal(begun.length, 8);
  const few = scene(7);
  await few.refresher.askForNews();
  assert.equal(few.questions.length, 0);
});

test("wallets that are to be refreshed seldom, or never, wait for that also where there is news", async () => {
  const { refresher, open, questions, begun } = scene(8);
  refresher.plan(open[2]!, HOUR_SECONDS, false);
  refresher.plan(open[5]!, 0, false);
  const asked = refresher.askForNews();
  questions[0]!.answer("a");
  await asked;
  await turns();
  assert.deepEqual(begun, [0, 1, 3, 4, 6, 7]);
});

test("of very many wallets that are due some hundreds begin in one turn", async () => {
  const { refresher, questions, begun } = scene(600);
  const asked = refresher.askForNews();
  questions[0]!.answer("a");
  await asked;
  let most = 0;
  for (let turn = 0, before = 0; turn < 50; turn++) {
    await nextTurn();
    most = Math.max(most, begun.length - before);
    before = begun.length;
  }
  assert.equal(begun.length, 600);
  assert.ok(most <= 256, `${most} in one turn`);
});
