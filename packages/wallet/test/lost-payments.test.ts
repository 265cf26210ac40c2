/** What scanning again has not found is told with several changes, each of which is durable before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { WalletChange } from "../src/changes.ts";
import type { Daemon } from "../src/daemon.ts";
import type { ChangeLog } from "../src/file/store.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { closeRuntime, createRuntime } from "../src/runtime.ts";
import { Wallet } from "../src/wallet.ts";
import { blocks } from "./events-fixture.ts";
import { follow, MemoryLog } from "./follower-fixture.ts";
import { largeLedger } from "./large-history.ts";
import { seededRandom } from "./transfer-fixture.ts";

const RECEIPTS = 1200;

/** Scans a wallet again, and finds nothing; its disk takes `most` changes. */
async function loseAll(most: number) {
  const ledger = largeLedger({ receipts: RECEIPTS, payments: 0 });
  const end = ledger.state.height;
  const kept: WalletChange[] = [];
  const sink = new MemoryLog();
  const take = sink.take.bind(sink);
  let started = 0;
  sink.take = (entry) => {
    // Nothing is told of a change that a crash would undo.
    assert.ok(entry.change <= started + kept.length);
    take(entry);
  };
  const log: ChangeLog = {
    append: async (change) => {
      await new Promise(setImmediate);
      if (kept.length === most) throw new Error("no space left");
      kept.push(change);
    },
    flush: async () => undefined,
    refuse: () => undefined,
    close: async () => undefined,
  } as ChangeLog;
  const events = follow(sink);
  await events.begin(ledger);
  const runtime = createRuntime({ concurrency: 0, random: seededRandom("lost payments") });
  const keys = createKeys(seededRandom("keys"));
  const daemon = { close: () => undefined } as unknown as Daemon;
  const wallet = new Wallet({ keys, ledger, log, daemon, runtime, events });
  started = ledger.state.changeCount;
  await wallet.commit({ kind: "eventSource", source: events.newSource! });
  await wallet.commit({ kind: "reset", hard: false });
  const ended = wallet.commit(blocks(1, end - 1));
  return { kept, sink, wallet, runtime, ended };
}

const undone = ({ told }: MemoryLog) => told.filter(([, , { type }]) => type === "payment_undone");

test("the last change of a rescan is followed by others, until all that was lost is told", async () => {
  const { kept, sink, wallet, runtime, ended } = await loseAll(Number.POSITIVE_INFINITY);
  await ended;
  assert.deepEqual(
    kept.map(({ kind }) => kind),
    ["eventSource", "reset", "blocks", "time", "time"],
  );
  await wallet.close();
  const changes = undone(sink).map(([, change]) => change);
  const counts = [...new Set(changes)].map((change) => changes.filter((each) => each === change).length);
  assert.deepEqual(counts, [500, 500, 200]);
  assert.equal(new Set(undone(sink).map(([, , { tx_hash }]) => tx_hash)).size, RECEIPTS);
  await closeRuntime(runtime);
});

test("what is told of a rescan ends where the disk does", async () => {
  const { kept, sink, wallet, runtime, ended } = await loseAll(4);
  await assert.rejects(ended, /no space left/);
  await wallet.close();
  assert.deepEqual([kept.length, undone(sink).length], [4, 1000]);
  await closeRuntime(runtime);
});
