import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "@anulo/testkit";
import { mine, needsRealPrograms, onStage, type Side } from "../actors.ts";
import { type Exchange, lyingProxy } from "./lying-proxy.ts";

/** What a node says of pool and blocks, where it shall say something else than it would. */
type Lie = { backlog?: string; blockWeight?: number };

/** A transaction of the pool as the original packs it: weight, fee, age; no byte above 0x7f, so that it is text. */
function packedEntry(weight: bigint, fee: bigint): string {
  const bytes = Buffer.alloc(24);
  bytes.writeBigUInt64LE(weight, 0);
  bytes.writeBigUInt64LE(fee, 8);
  assert.ok(bytes.every((byte) => byte < 0x80));
  return bytes.toString("latin1");
}

function distort({ path, asked, truth }: Exchange, { backlog, blockWeight }: Lie): Buffer {
  if (path !== "/json_rpc") return truth;
  const { method } = JSON.parse(asked) as { method: string };
  const isBacklog = method === "get_txpool_backlog" && backlog !== undefined;
  const isHeaders = /^get_?block_?headers_?range$/.test(method) && blockWeight !== undefined;
  if (!isBacklog && !isHeaders) return truth;
  const told = JSON.parse(truth.toString()) as { result: Record<string, unknown> };
  if (isBacklog) told.result.backlog = backlog;
  else
    for (const header of told.result.headers as object[])
      Object.assign(header, { block_weight: blockWeight });
  return Buffer.from(JSON.stringify(told));
}

test("a payment without priority gets the one today's wallet gives it", needsRealPrograms, (t) =>
  onStage(async (stage) => {
    const daemon = await stage.daemon("ours", "upstream");
    const lie: Lie = {};
    const proxy = await lyingProxy(daemon.port, (exchange) => distort(exchange, lie));
    t.after(proxy.stop);
    const url: Record<Side, string> = {
      ours: (await stage.service("ours", proxy.port)).url,
      real: (await stage.service("real", proxy.port)).url,
    };
    const create = { filename: "payer", password: "", language: "English" };
    for (const side of ["ours", "real"] as const) await call(url[side], "create_wallet", create);
    const { address } = await call(url.ours, "get_address");
    const toldBy = async (side: Side) => {
      await call(url[side], "refresh");
      return (await call(url[side], "get_default_fee_priority")).priority;
    };
    const check = async (expected: number) => {
      assert.deepEqual(
        { ours: await toldBy("ours"), real: await toldBy("real") },
        { ours: expected, real: expected },
      );
    };
    // The original heeds the rules of fees 30 blocks after their fork, which here is the first block.
    await mine(daemon, 50, String(address));
    await check(1);
    const fillsBlock = 0x05_7f_40n;
    lie.backlog = packedEntry(fillsBlock, 0x7f_7f_7f_7f_7fn);
    await check(2);
    lie.backlog = packedEntry(fillsBlock, 0x7f_7fn);
    await check(1);
    lie.backlog = packedEntry(0x03_7f_40n, 0x7f_7f_7f_7f_7fn);
    await check(1);
    delete lie.backlog;
    lie.blockWeight = 243_001;
    await check(2);
    lie.blockWeight = 240_001;
    await check(1);
  }),
);
