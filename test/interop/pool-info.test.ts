import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  fromHex,
  type PortableEntry,
  type PortableObject,
  readPortable,
  readTransaction,
  toHex,
  transactionHash,
  writePortable,
} from "@anulo/protocol";
import { call, loadBlocks, loadGoldenState, post, type RunningDaemon, sendTransaction } from "@anulo/testkit";
import { mine, needsRealPrograms, onStage } from "../actors.ts";

const { blocks, pool, wallets, top_hash } = loadGoldenState();
const ids = pool.map((hex) => toHex(transactionHash(readTransaction(fromHex(hex)))));

type Request = Readonly<Record<string, number | bigint | boolean | readonly string[]>>;

function entryOf(value: Request[string]): PortableEntry {
  if (typeof value === "boolean") return { type: "bool", value };
  if (typeof value === "object") return { type: "string", value: fromHex(value.join("")) };
  return { type: "uint64", value: BigInt(value) };
}

async function getBlocks(url: string, request: Request): Promise<PortableObject> {
  const fields = Object.entries(request).map(([name, value]) => [name, entryOf(value)] as const);
  const body = Buffer.from(writePortable(new Map(fields)));
  const response = await fetch(`${url}/get_blocks.bin`, { method: "POST", body });
  assert.equal(response.status, 200);
  return readPortable(new Uint8Array(await response.arrayBuffer()));
}

/** Hashes and the entries of a pool have no order. */
function describeEntry(entry: PortableEntry): unknown {
  const text = (value: unknown): unknown => {
    if (value instanceof Uint8Array) return toHex(value);
    if (value instanceof Map) return describe(value as PortableObject);
    return String(value);
  };
  return "value" in entry ? [entry.type, text(entry.value)] : [entry.type, entry.values.map(text)];
}

function describe(object: PortableObject): Record<string, unknown> {
  return Object.fromEntries([...object].map(([name, entry]) => [name, describeEntry(entry)]).sort());
}

/** All there is in an answer, with the fields in which neither order nor clock count made comparable. */
function facts(answer: PortableObject): Record<string, unknown> {
  const { daemon_time, ...rest } = describe(answer) as Record<string, [string, unknown]>;
  const sorted = (texts: readonly string[]) => [...texts].sort();
  for (const name of ["remaining_added_pool_txids", "removed_pool_txids"]) {
    if (rest[name] !== undefined) rest[name] = ["ids", sorted(String(rest[name][1]).match(/.{64}/g) ?? [])];
  }
  const { added_pool_txs: added } = rest;
  if (added !== undefined) added[1] = sorted((added[1] as unknown[]).map((one) => JSON.stringify(one)));
  return { ...rest, daemon_time: daemon_time?.[0] };
}

/** The original announces a payment to strangers some time after it has accepted it. */
async function untilPublic({ restrictedUrl }: RunningDaemon, id: string): Promise<void> {
  for (;;) {
    const { tx_hashes: told = [] } = await post(`${restrictedUrl}/get_transaction_pool_hashes`);
    if ((told as string[]).includes(id)) return;
    await delay(20);
  }
}

const timeOf = (answer: PortableObject) => (answer.get("daemon_time") as { readonly value: bigint }).value;

/** The two nodes, to which the same is done. */
class Pair {
  readonly #nodes: readonly RunningDaemon[];
  constructor(nodes: readonly RunningDaemon[]) {
    this.#nodes = nodes;
  }

  async each(act: (node: RunningDaemon) => Promise<unknown>): Promise<void> {
    for (const node of this.#nodes) await act(node);
  }

  /** Asks both, also on their restricted ports, and asserts that they answer alike; the facts of the full ports. */
  async agree(request: Request): Promise<Record<string, unknown>> {
    const ask = async (urls: readonly string[]) => {
      const [own, original] = await Promise.all(urls.map((url) => getBlocks(url, request)));
      assert.deepEqual(facts(own!), facts(original!));
      return facts(original!);
    };
    await ask(this.#nodes.map(({ restrictedUrl }) => restrictedUrl!));
    return ask(this.#nodes.map(({ url }) => url));
  }

  /** A moment of both clocks, in a second in which nothing happened and nothing will have. */
  async moment(): Promise<number> {
    const now = async () => {
      const answers = await Promise.all(this.#nodes.map(({ url }) => getBlocks(url, { requested_info: 2 })));
      return Math.max(...answers.map(timeOf).map(Number));
    };
    const before = await now();
    let moment = before;
    for (; moment <= before; moment = await now()) await delay(100);
    return moment;
  }
}

test("both nodes tell the same of blocks and pool in one answer", needsRealPrograms, async () => {
  await onStage(async (stage) => {
    const options = { restricted: true };
    const ours = await stage.daemon("ours", "upstream", options);
    const real = await stage.daemon("real", "upstream", options);
    const pair = new Pair([ours, real]);
    const [first, second] = ids as [string, string];
    const since = (moment: number | bigint) => pair.agree({ requested_info: 2, pool_info_since: moment });
    const flush = (id: string) => pair.each(({ url }) => call(url, "flush_txpool", { txids: [id] }));
    const send = (hex: string) =>
      pair.each(async (node) => {
        await sendTransaction(node.url, hex);
        await untilPublic(node, ids[pool.indexOf(hex)]!);
      });

    const fresh = await since(await pair.moment());
    assert.deepEqual(fresh.pool_info_extent, ["uint8", "2"], "nothing has left yet");
    await pair.each(({ url }) => loadBlocks(url, blocks));
    const empty = await pair.agree({ requested_info: 2 });
    assert.deepEqual(empty.pool_info_extent, ["uint8", "2"]);
    for (const max_block_count of [1, 2, 5, 2n ** 64n - 1n])
      await pair.agree({ start_height: 90, max_block_count, requested_info: 1 });
    await pair.agree({ block_ids: [top_hash] });
    await pair.agree({ block_ids: [top_hash], requested_info: 1, no_miner_tx: true });
    await pair.agree({ start_height: 108, requested_info: 1 });
    const wrong = await pair.agree({ requested_info: 3 });
    assert.match(Buffer.from(String((wrong.status as string[])[1]), "hex").toString(), /requested info/);

    await send(pool[0]!);
    const told = await pair.agree({ requested_info: 1, start_height: 100, prune: true });
    assert.ok(JSON.stringify(told.added_pool_txs).includes(first));
    await flush(first);
    const start = await pair.moment();
    const quiet = await since(start);
    assert.deepEqual(quiet.pool_info_extent, ["uint8", "1"]);
    assert.equal(quiet.added_pool_txs ?? quiet.removed_pool_txids, undefined);
    for (const hex of pool) await send(hex);
    assert.equal(((await since(start)).added_pool_txs as unknown[][])[1]!.length, 2);
    const later = await pair.moment();
    assert.equal((await since(later)).added_pool_txs, undefined);
    await flush(first);
    assert.deepEqual((await since(later)).removed_pool_txids, ["ids", [first]]);
    await pair.each((node) => mine(node, 1, wallets.a.address));
    assert.deepEqual((await since(later)).removed_pool_txids, ["ids", ids.toSorted()]);
    await pair.each(({ url }) => post(`${url}/pop_blocks`, { nblocks: 1 }));
    const back = await since(later);
    assert.ok(JSON.stringify(back.added_pool_txs).includes(second));
    for (const moment of [0, start - 1000, later + 1000, 2n ** 63n, 2n ** 64n - 1n]) await since(moment);
  });
});
