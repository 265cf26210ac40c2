import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, readTransaction, toHex, transactionHash } from "@anulo/protocol";
import {
  CallFailed,
  call,
  type ExactObject,
  post,
  type RunningDaemon,
  sendTransaction,
  submitBlock,
} from "@anulo/testkit";
import { needsRealPrograms, onStage } from "../actors.ts";
import { type Laboratory, loadLaboratory } from "./laboratory.ts";

/** What `/send_raw_transaction` answers with, beside `status` and `reason`. */
const flags = [
  ...["double_spend", "fee_too_low", "invalid_input", "invalid_output", "low_mixin", "overspend", "too_big"],
  ...["too_few_outputs", "sanity_check_failed", "not_relayed", "tx_extra_too_big", "nonzero_unlock_time"],
] as const;

/** Brings a node to the state on which the cases are tried. */
async function prepare({ url }: RunningDaemon, laboratory: Laboratory): Promise<void> {
  for (const { block, transactions } of laboratory.blocks) {
    for (const hex of transactions) await sendTransaction(url, hex);
    await submitBlock(url, block);
  }
  await sendTransaction(url, laboratory.poolTransaction);
}

async function poolSize(url: string): Promise<number> {
  return Number((await call(url, "get_info")).tx_pool_size);
}

/** The original refuses some bytes by an exception nobody catches: HTTP 500, where ours says "Failed". */
function uncaught(error: Error): ExactObject {
  if (error.message.includes("HTTP 500")) return { status: "Failed" };
  throw error;
}

/** A node's answer to a transaction: taken or not, and the flags that are true. */
async function tryTransaction({ url }: RunningDaemon, hex: string): Promise<string> {
  const before = await poolSize(url);
  const answer = await post(`${url}/send_raw_transaction`, { tx_as_hex: hex }).catch(uncaught);
  const entered = (await poolSize(url)) > before;
  if (entered) {
    const txids = [toHex(transactionHash(readTransaction(fromHex(hex))))];
    await call(url, "flush_txpool", { txids });
  }
  const raised = flags.filter((flag) => answer[flag] === true);
  return [String(answer.status), entered ? "pooled" : "not pooled", ...raised].join(", ");
}

/** A node's answer to a block: the error code, and whether it became the newest. */
async function tryBlock({ url }: RunningDaemon, hex: string): Promise<string> {
  const before = Number((await call(url, "get_info")).height);
  const code = await submitBlock(url, hex).then(
    () => 0,
    (error) => {
      if (error instanceof CallFailed) return error.code;
      throw error;
    },
  );
  const isOnTop = Number((await call(url, "get_info")).height) > before;
  if (isOnTop) await post(`${url}/pop_blocks`, { nblocks: 1 });
  return `code ${code}, ${isOnTop ? "on top" : "not on top"}`;
}

test("both nodes judge mutated transactions and blocks alike, flag by flag", needsRealPrograms, async (t) => {
  await onStage(async (stage) => {
    const laboratory = loadLaboratory();
    const ours = await stage.daemon("ours", "upstream");
    const real = await stage.daemon("real");
    await Promise.all([prepare(ours, laboratory), prepare(real, laboratory)]);
    const differing: string[] = [];
    const compare = async (attempt: typeof tryBlock, { name, blob }: { name: string; blob: string }) => {
      const [own, original] = await Promise.all([attempt(ours, blob), attempt(real, blob)]);
      if (own !== original) differing.push(`${name}: ours ${own}; the real one ${original}`);
      return original.startsWith("code") ? original.endsWith("not on top") : !original.startsWith("OK");
    };
    const refused = { transactions: 0, blocks: 0 };
    for (const attempt of laboratory.transactions) {
      if (await compare(tryTransaction, attempt)) refused.transactions++;
    }
    for (const attempt of laboratory.blockCases) {
      if (await compare(tryBlock, attempt)) refused.blocks++;
    }
    t.diagnostic(`refused: ${refused.transactions} transactions, ${refused.blocks} blocks`);
    assert.deepEqual(differing, []);
    assert.ok(refused.transactions >= 30 && refused.blocks >= 15);
  });
});

test(
  "both nodes tell fees of fewer grace blocks than the window has, and of no more",
  needsRealPrograms,
  async () => {
    await onStage(async (stage) => {
      const daemons = [await stage.daemon("ours", "upstream"), await stage.daemon("real")];
      const feeOf = ({ url }: RunningDaemon, grace_blocks: number) =>
        call(url, "get_fee_estimate", { grace_blocks }).then(
          ({ fee }) => Number(fee),
          (error: unknown) => {
            if (error instanceof CallFailed) return `code ${error.code}`;
            throw error;
          },
        );
      for (const grace of [0, 10, 99, 100, 101]) {
        const [ours, real] = await Promise.all(daemons.map((daemon) => feeOf(daemon, grace)));
        assert.equal(ours, real, `${grace} blocks`);
        assert.equal(typeof real, grace < 100 ? "number" : "string");
      }
    });
  },
);
