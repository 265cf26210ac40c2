import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { CallFailed, type ExactObject, type RunningWallet } from "@anulo/testkit";
import { listOf, mine, needsRealPrograms, onStage, type Stage } from "../actors.ts";
import { type Ask, asking } from "./two-services.ts";
import { words } from "./words.ts";

const reuse = "reuse-wallet-password";
const custom = "custom-background-password";
const own = { filename: "w", password: "own" };
const background = { filename: "w.background", password: "b" };
const setup = (background_sync_type: string, wallet_password = "own", background_cache_password = "b") =>
  ["setup_background_sync", { background_sync_type, wallet_password, background_cache_password }] as const;
const stop = (wallet_password: string, seed = "") =>
  ["stop_background_sync", { wallet_password, seed }] as const;

type Question = readonly [string, ExactObject?];

const everything = { in: true, out: true, pending: true, failed: true, pool: true, all_accounts: true };
/** What a wallet says of its money. Transfers have no order. */
const money: readonly Question[] = [
  ["get_height"],
  ["get_balance", { account_index: 0 }],
  ["get_transfers", everything],
  ["incoming_transfers", { transfer_type: "all" }],
  ["incoming_transfers", { transfer_type: "available" }],
];

async function answerOf(ask: Ask, [method, params]: Question): Promise<ExactObject> {
  try {
    return sorted(await ask(method, params));
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    return { code: error.code, message: error.reason };
  }
}

/** Payments by id, without what either program counts on its own. */
function sorted(answer: ExactObject): ExactObject {
  const lists = ["in", "out", "pending", "failed", "pool"].filter((name) => Array.isArray(answer[name]));
  const ordered = lists.map((name) => {
    const entries = listOf(answer[name]).map((entry) => JSON.stringify(entry, plain));
    return [name, entries.sort()];
  });
  const { transfers, per_subaddress } = answer;
  // A field of the interface document that the program has dropped.
  const outputs = transfers && { transfers: listOf(transfers).map(({ tx_size: _, ...output }) => output) };
  // The original has no labels while a background wallet scans for it, and new ones once that is opened.
  const places = per_subaddress && {
    per_subaddress: listOf(per_subaddress).map(({ label: _, ...address }) => address),
  };
  return { ...answer, ...outputs, ...places, ...(Object.fromEntries(ordered) as ExactObject) };
}

const plain = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);

async function tell(ask: Ask, questions: readonly Question[]): Promise<ExactObject[]> {
  const answers: ExactObject[] = [];
  for (const question of questions) answers.push(await answerOf(ask, question));
  return answers;
}

/** Both programs with one wallet each, of the same seed, and another copy of it that pays. */
async function twoCopies(stage: Stage) {
  const daemon = await stage.daemon("ours", "upstream");
  const maker = await stage.wallet("ours", { mnemonic: words.alice, daemonPort: daemon.port });
  const other = await stage.wallet("ours", { mnemonic: words.bob, daemonPort: daemon.port });
  await mine(daemon, 20, maker.address);
  await mine(daemon, 70, other.address);
  const pay = async () => {
    await maker.refresh();
    await maker.pay([{ address: other.address, amount: coin }]);
    await mine(daemon, 1, other.address);
  };
  await pay();
  const ours = await stage.service("ours", daemon.port);
  const real = await stage.service("real", daemon.port);
  for (const service of [ours, real]) {
    await asking(service)("auto_refresh", { enable: false });
    await asking(service)("restore_deterministic_wallet", { ...own, seed: words.alice, restore_height: 0 });
  }
  const same = async (questions: readonly Question[], when: string) => {
    const expected = await tell(asking(real), questions);
    const told = await tell(asking(ours), questions);
    for (const [i, [method]] of questions.entries())
      assert.deepEqual(told[i], expected[i], `${method} ${when}`);
    return expected;
  };
  return { ours, real, pay, same };
}

const refresh: Question = ["refresh"];
const start: Question = ["start_background_sync"];

test("both programs answer alike before, during and after background sync", needsRealPrograms, () =>
  onStage(async (stage) => {
    const { same, pay } = await twoCopies(stage);
    await same(
      [
        start,
        ...[stop("own"), stop("wrong"), stop("own", "x")],
        ...[setup("nonsense"), setup(""), setup(reuse, "wrong"), setup(custom, "own", "own")],
        setup("off"),
      ],
      "before it is set up",
    );
    for (const type of [reuse, custom]) {
      await same([setup(type), start, start, ...money], `as ${type} begins`);
      await pay();
      await same([refresh, ...money, setup("off"), stop("b"), stop("own", words.bob)], `during ${type}`);
      await same([stop("own"), stop("own"), ...money], `after ${type}`);
      await same([refresh, ...money], `on from ${type}`);
      await same([start, refresh, ["close_wallet"], ["open_wallet", own], ...money], `reopened, ${type}`);
    }
    await pay();
    await same([["close_wallet"], ["open_wallet", { ...background, password: "own" }]], "wrong password");
    await same([["open_wallet", background], refresh, ...money], "in the background wallet");
    await same([start, stop("b"), stop("b", words.alice), setup("off", "b")], "in the background wallet");
    await same([["close_wallet"], ["open_wallet", own], ...money], "after the background wallet");
    await same([setup("off"), start, refresh, ...money], "turned off");
  }),
);

test("a wallet in memory takes its key from the seed alone, in both programs", needsRealPrograms, () =>
  onStage(async (stage) => {
    const { same } = await twoCopies(stage);
    const memory = { filename: "", password: "own", seed: words.alice, restore_height: 0 };
    await same([["restore_deterministic_wallet", memory], setup(custom), start, refresh, ...money], "begun");
    await same([stop("own"), stop("own", words.alice), ...money], "ended");
  }),
);

const files = ["w", "w.keys", "w.background", "w.background.keys"];

function carry(from: RunningWallet, to: RunningWallet): void {
  for (const name of files)
    if (existsSync(join(from.walletDir, name))) cpSync(join(from.walletDir, name), join(to.walletDir, name));
}

for (const maker of ["real", "ours"] as const) {
  test(`the files of ${maker} open in the other program, background wallet and all`, needsRealPrograms, () =>
    onStage(async (stage) => {
      const { ours, real, pay } = await twoCopies(stage);
      const [from, target] = maker === "real" ? [real, ours] : [ours, real];
      const [ask, other] = [asking(from), asking(target)];
      await ask("refresh");
      await ask(...setup(custom));
      await ask("close_wallet");
      await other("close_wallet");
      for (const name of readdirSync(target.walletDir))
        if (/^w(\.|$)/.test(name)) rmSync(join(target.walletDir, name));
      carry(from, target);
      await pay();
      await assert.rejects(other("open_wallet", { ...background, password: "own" }));
      await other("open_wallet", background);
      await assert.rejects(other("query_key", { key_type: "spend_key" }), { code: -51 });
      await other("refresh");
      await other("close_wallet");
      await other("open_wallet", own);
      const known = await tell(other, money);
      await other("refresh");
      const after = await tell(other, money);
      assert.deepEqual(known[1], after[1], "what was found in the background is settled");
      await ask("open_wallet", own);
      await ask("refresh");
      assert.deepEqual(after[1], (await tell(ask, money))[1]);
    }),
  );
}
