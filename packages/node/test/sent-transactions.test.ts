/** What who sends a transaction is answered. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readTransaction, toHex, transactionHash, writeTransaction } from "@anulo/protocol";
import type { OpenChain } from "../src/chain/open-chain.ts";
import { markRelayed } from "../src/pool/relay-phase.ts";
import type { NodeContext } from "../src/rpc/context.ts";
import { sendRawTransaction } from "../src/rpc/send-raw-transaction.ts";
import { emptyChain, loadBlocks, pow } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";

let chain: OpenChain;
/** How often a transaction was told to be relayed. */
let releases = 0;
const { blocks, pool } = goldenState();

before(async () => {
  chain = await emptyChain();
  await loadBlocks(chain.parts, blocks);
  chain.events.listen(({ type }) => {
    if (type === "transactionReleased") releases++;
  });
});

after(async () => {
  await chain.close();
  await pow.stop();
});

interface Sent {
  readonly blob: string;
  readonly hidden?: boolean;
  readonly checked?: boolean;
  readonly dialect?: "upstream" | "contract";
}

async function send({ blob, hidden = false, checked = true, dialect = "contract" }: Sent) {
  const context = { parts: chain.parts, restricted: false, dialect } as unknown as NodeContext;
  return sendRawTransaction({ tx_as_hex: blob, do_not_relay: hidden, do_sanity_checks: checked }, context);
}

const notRelayed = { reason: "Not relayed", not_relayed: true };

test("a transaction is taken once, and relayed unless that is not wanted", async () => {
  const [first, second] = pool.map((blob) => toHex(blob));
  assert.deepEqual(await send({ blob: first! }), {});
  assert.deepEqual(await send({ blob: first!, hidden: true }), notRelayed);
  assert.deepEqual(await send({ blob: second!, hidden: true }), notRelayed);
  assert.deepEqual(await send({ blob: second! }), notRelayed);
  assert.equal(chain.parts.pool.size, 2);
});

test("a transaction that is sent again counts as relayed until it was told to all", async () => {
  const { parts } = chain;
  const [first] = pool;
  const key = toHex(transactionHash(readTransaction(first!)));
  const blob = toHex(first!);
  assert.deepEqual(await send({ blob }), {});
  assert.equal(releases, 1);
  await markRelayed(parts, [{ key, embargoEnd: parts.now() + 60 }], "stem");
  assert.deepEqual(await send({ blob }), {});
  assert.equal(releases, 1, "another node has it, and tells it to all");
  await markRelayed(parts, [{ key }], "fluff");
  assert.deepEqual(await send({ blob }), notRelayed);
});

test("what is no transaction, or no wallet's, fails the checks of who wants them", async () => {
  const failed = { status: "Failed", reason: "Sanity check failed", sanity_check_failed: true };
  assert.deepEqual(await send({ blob: "00" }), failed);
  assert.deepEqual(await send({ blob: "" }), failed);
  const unchecked = await send({ blob: "00", checked: false });
  assert.ok("status" in unchecked && unchecked.status === "Failed" && !("sanity_check_failed" in unchecked));
  assert.deepEqual(await send({ blob: "zz" }), { status: "Failed" });
});

test("a transaction whose money is spent says so, to some in flags alone", async () => {
  const [first] = pool;
  const spender = readTransaction(first!);
  // Another id, for a byte more of its extra, but the same key images.
  const again = writeTransaction({
    ...spender,
    prefix: { ...spender.prefix, extra: Uint8Array.of(...spender.prefix.extra, 0) },
  });
  const told = await send({ blob: toHex(again) });
  assert.deepEqual(told, { status: "Failed", reason: "double spend", double_spend: true });
  assert.deepEqual(await send({ blob: toHex(again), dialect: "upstream" }), { ...told, reason: "" });
});
