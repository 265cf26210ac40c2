/** What becomes of runs of blocks beside which others fail, or that begin elsewhere. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Obligation } from "@anulo/consensus";
import { ChainChanged, createBlockImporter, type FetchedBlock } from "../src/chain/import-blocks.ts";
import { readIncomingBlock } from "../src/chain/incoming-block.ts";
import { FailedProof } from "../src/chain/proofs.ts";
import { chainIn, emptyChain } from "./chain-fixture.ts";
import { recordedChain } from "./recorded-chains.ts";

const chain = recordedChain();
/** The first block with payments is the last of them. */
const RUN = 1 + chain.findIndex(({ transactions }) => transactions.length > 0);

const run = (from: number, to: number): FetchedBlock[] =>
  chain.slice(from, to).map(({ blob, transactions }) => ({
    incoming: readIncomingBlock(blob),
    txs: transactions,
    size: blob.length,
  }));

test("what was judged above a run that failed comes again, though the second try of that run held", async () => {
  let fail = (): void => {};
  const failing = new Promise<void>((resolve) => {
    fail = resolve;
  });
  const isOfPayment = (each: Obligation) => "transactionId" in each;
  let tries = 0;
  const discharge = async (obligations: readonly Obligation[]) => {
    if (!obligations.some(isOfPayment) || tries++ > 0) return;
    await failing;
    throw new FailedProof({ code: "PROOF_OF_WORK", difficulty: 2n }, undefined);
  };
  const { parts, close } = await chainIn(undefined, { fixedDifficulty: 2n, discharge });
  const importer = createBlockImporter(parts);
  await (await importer.stage(run(0, RUN - 1))).completion;
  const [failed, above] = [await importer.stage(run(RUN - 1, RUN)), await importer.stage(run(RUN, RUN + 5))];
  fail();
  await failed.completion;
  await assert.rejects(above.completion, ChainChanged);
  assert.deepEqual([tries, parts.store.read.height()], [2, 1 + RUN]);
  await (await importer.stage(run(RUN, RUN + 5))).completion;
  assert.equal(parts.store.read.height(), 6 + RUN);
  await close();
});

test("what waits for more blocks is written before a run that begins elsewhere", async () => {
  const { parts, close } = await emptyChain();
  const importer = createBlockImporter(parts);
  const waiting = await importer.stage(run(0, 2), { isMoreComing: true });
  const elsewhere = await importer.stage(run(0, 3), { isMoreComing: true });
  await waiting.completion;
  await elsewhere.completion;
  assert.equal(parts.store.read.height(), 4);
  await close();
});
