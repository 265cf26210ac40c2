import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { readTransaction, toHex, transactionHash } from "@anulo/protocol";
import { admit } from "../src/pool/admit.ts";
import { transact } from "../src/pool/parts.ts";
import { createPublicNode, loadBlocks } from "./chain-fixture.ts";
import { recordedChain } from "./recorded-chains.ts";

// Closes a class of leaks: what a restricted port reports to strangers about transactions that are still hidden.
// Each filter is asked for on both sides: hidden from strangers, shown to the owner, shown to all once public.

const busy = recordedChain().findIndex(({ transactions }) => transactions.length > 1);
const [hidden, open] = recordedChain()[busy]!.transactions.map((blob) => {
  const { inputs } = readTransaction(blob).prefix;
  const images = inputs.flatMap((input) => ("keyImage" in input ? [input.keyImage] : []));
  const id = transactionHash(readTransaction(blob));
  return { blob, id, key: toHex(id), image: toHex(images[0]!) };
}) as [Waiting, Waiting];

interface Waiting {
  readonly blob: Uint8Array;
  readonly id: Uint8Array;
  readonly key: string;
  readonly image: string;
}

type Answer = Record<string, unknown>;

const node = createPublicNode();
/** A portable storage without fields. */
const EMPTY_PORTABLE = Buffer.from("01110101010102010100", "hex");
const ask = (port: "owner" | "stranger", path: string, body: unknown = {}) =>
  fetch(`${node.urls[port === "owner" ? 0 : 1]}${path}`, {
    method: "POST",
    body: path.endsWith(".bin") ? EMPTY_PORTABLE : JSON.stringify(body),
  });
const post = async (port: "owner" | "stranger", path: string, body?: unknown) =>
  (await (await ask(port, path, body)).json()) as Answer;
const relay = async (port: "owner" | "stranger", key: string) =>
  (await post(port, "/json_rpc", {
    jsonrpc: "2.0",
    id: 0,
    method: "relay_tx",
    params: { txids: [key] },
  })) as {
    error?: { message: string };
  };

/** Unix seconds, long after all this: until then the node itself does not bring a transaction into the next phase. */
const EMBARGO_END = 10_000_000_000n;

function setHidden(change: { phase: "local" | "stem" | "forward" | "fluff"; doNotRelay?: boolean }): void {
  const { pool } = node.chain;
  transact(node.chain, (writer) =>
    pool.update(writer, hidden.key, { doNotRelay: false, lastRelayedTime: EMBARGO_END, ...change }),
  );
}

before(async () => {
  await node.start();
  await loadBlocks(node.chain, recordedChain().slice(0, busy));
  await admit(node.chain, { blob: hidden.blob, doNotRelay: false });
  await admit(node.chain, { blob: open.blob, doNotRelay: false, phase: "fluff" });
});
after(() => node.stop());

const secretPhases = [
  { phase: "local" },
  { phase: "forward" },
  { phase: "stem" },
  { phase: "fluff", doNotRelay: true },
] as const;

for (const change of secretPhases) {
  const name = "doNotRelay" in change ? "kept from relaying" : change.phase;
  describe(`a transaction that is ${name}`, () => {
    before(() => setHidden(change));

    test("is in no answer to a stranger, whose pool has only what is public", async () => {
      for (const path of ["/get_transaction_pool_hashes", "/get_transaction_pool_hashes.bin"]) {
        const bytes: Buffer = Buffer.from(await (await ask("stranger", path)).arrayBuffer());
        assert.ok(!bytes.includes(hidden.key) && !bytes.includes(Buffer.from(hidden.id)), `${path} names it`);
        assert.ok(!bytes.includes(hidden.image), `${path} has its key image`);
        assert.ok(
          bytes.includes(open.key) || bytes.includes(Buffer.from(open.id)),
          `${path} lacks what is public`,
        );
      }
    });

    test("is counted for nobody but the owner", async () => {
      for (const [port, count] of [
        ["stranger", 1],
        ["owner", 2],
      ] as const) {
        const { pool_stats } = await post(port, "/get_transaction_pool_stats");
        assert.equal((pool_stats as Answer).txs_total, count);
        assert.equal((await post(port, "/get_info")).tx_pool_size, count);
      }
    });

    test("cannot be looked up by a stranger who knows its id", async () => {
      const { missed_tx, txs } = await post("stranger", "/get_transactions", {
        txs_hashes: [hidden.key, open.key],
      });
      assert.deepEqual(missed_tx, [hidden.key]);
      assert.deepEqual(
        (txs as Answer[]).map(({ tx_hash }) => tx_hash),
        [open.key],
      );
      const ours = await post("owner", "/get_transactions", { txs_hashes: [hidden.key] });
      assert.equal((ours.txs as Answer[])[0]!.tx_hash, hidden.key);
    });

    test("does not show by its key image what it spends", async () => {
      const body = { key_images: [hidden.image, open.image, "00".repeat(32)] };
      assert.deepEqual((await post("stranger", "/is_key_image_spent", body)).spent_status, [0, 2, 0]);
      assert.deepEqual((await post("owner", "/is_key_image_spent", body)).spent_status, [2, 2, 0]);
    });
  });
}

test("what is public shows strangers what it spends, and the pool as such is the owner's", async () => {
  setHidden({ phase: "fluff" });
  const { spent_status } = await post("stranger", "/is_key_image_spent", { key_images: [hidden.image] });
  assert.deepEqual(spent_status, [2]);
  for (const path of ["/get_transaction_pool", "/get_alt_blocks_hashes"]) {
    assert.equal((await ask("stranger", path)).status, 404);
    assert.equal((await ask("owner", path)).status, 200);
  }
});

test("a stranger can't have anything sent on, the owner can", async () => {
  setHidden({ phase: "local", doNotRelay: true });
  assert.equal((await relay("stranger", hidden.key)).error?.message, "Method not found");
  assert.equal(node.chain.pool.get(hidden.key)!.row.doNotRelay, true);
  assert.equal((await relay("owner", hidden.key)).error, undefined);
  assert.equal(node.chain.pool.get(hidden.key)!.row.doNotRelay, false);
  const { error } = await relay("owner", "00".repeat(32));
  assert.equal(error?.message, `transaction not found in pool: ${"00".repeat(32)}`);
});
