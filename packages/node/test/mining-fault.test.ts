import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAddress } from "@anulo/protocol";
import { type Logger, silent } from "@anulo/rpc";
import { createNode } from "../src/index.ts";
import { createSearching } from "../src/mining/searching.ts";
import type { Pow, RunningSearch } from "../src/pow/pow.ts";
import { goldenState } from "./recorded-chains.ts";

const keys = parseAddress(goldenState().wallets.a.address);

type Result = RunningSearch["result"];

/** A search on a new chain; `work` makes the result of each proof of work. */
async function searchingWith(work: () => Result, onFault = () => {}) {
  const node = createNode({ network: "regtest", fixedDifficulty: 1n });
  await node.start();
  const told = { errors: 0, searches: 0, stops: 0, faults: 0 };
  const noteError = () => {
    told.errors += 1;
  };
  const noteStop = () => {
    told.stops += 1;
  };
  const log: Logger = { ...silent, error: noteError };
  const search = () => {
    told.searches += 1;
    return { result: work(), stop: noteStop };
  };
  const searching = createSearching({
    ...{ parts: node.chain, events: node.events, log, keys },
    pow: { search } as unknown as Pow,
    effort: () => ({ threads: 1 }),
    onHashes: () => {},
    onFault: () => {
      told.faults += 1;
      onFault();
    },
  });
  return { node, searching, told };
}

test("mining ends, and says so once, when a search breaks", async () => {
  let noteFault = () => {};
  const fault = new Promise<void>((resolve) => {
    noteFault = resolve;
  });
  const reject = () => Promise.reject(new Error("no thread"));
  const { node, searching, told } = await searchingWith(reject, () => noteFault());
  searching.restart();
  await fault;
  assert.deepEqual(told, { errors: 1, searches: 1, stops: 1, faults: 1 });
  // It does not begin again.
  searching.restart();
  await node.stop();
  assert.deepEqual(told, { errors: 1, searches: 1, stops: 1, faults: 1 });
});

test("a search that breaks after mining was stopped is no fault", async () => {
  let breakNow = () => {};
  let noteStart = () => {};
  const start = new Promise<void>((resolve) => {
    noteStart = resolve;
  });
  const work = (): Result => {
    noteStart();
    return new Promise((_, reject) => {
      breakNow = () => reject(new Error("no thread"));
    });
  };
  const { node, searching, told } = await searchingWith(work);
  searching.restart();
  await start;
  searching.stop();
  breakNow();
  await node.stop();
  assert.deepEqual(told, { errors: 0, searches: 1, stops: 1, faults: 0 });
});
