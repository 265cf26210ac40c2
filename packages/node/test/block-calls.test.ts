/** What the calls about blocks answer, on a chain of three blocks with two beside it. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { toHex } from "@anulo/protocol";
import { type Drawn, RowMeter, RpcError } from "@anulo/rpc";
import type { OpenChain } from "../src/chain/open-chain.ts";
import { compareTableOrder } from "../src/pool/table-order.ts";
import { blockHandlers } from "../src/rpc/blocks.ts";
import type { NodeContext } from "../src/rpc/context.ts";
import { noHeader } from "../src/rpc/describe-block.ts";
import { errorCodes } from "../src/rpc/refusal.ts";
import { emptyChain, mine } from "./chain-fixture.ts";

let chain: OpenChain;
/** Ids in hexadecimal: of the chain from genesis on, and of blocks beside its last two. */
let main: string[];
let beside: string[];

before(async () => {
  chain = await emptyChain();
  const { parts } = chain;
  const mined = await mine(parts, 3);
  main = [toHex(parts.store.read.blockInfo(0)!.hash), ...mined.map(toHex)];
  const first = await mine(parts, 2, mined[0]);
  beside = first.map(toHex);
});

after(() => chain.close());

interface Scene {
  readonly restricted?: boolean;
  readonly isSynchronized?: boolean;
  readonly pruner?: object;
  /** The length that the chain pretends to have. */
  readonly height?: number;
  readonly signal?: AbortSignal;
}

/** What was said to each caller who was refused. */
const refusals: string[] = [];

const powHash = new Uint8Array(32).fill(5);

/** What a call answers, or its code of refusal. */
async function call(name: string, request: unknown, scene: Scene = {}): Promise<unknown> {
  const { restricted = false, isSynchronized = true, pruner, height } = scene;
  const { parts } = chain;
  const view = () => ({ ...parts.state.view(), height: height! });
  const context = {
    parts: height === undefined ? parts : { ...parts, state: { ...parts.state, view } },
    restricted,
    dialect: "contract",
    peers: { sync: { isSynchronized } },
    pow: { hashOf: () => undefined, hash: async () => powHash },
    pruner,
    signal: scene.signal ?? new AbortController().signal,
    rows: new RowMeter(() => 0),
  } as unknown as NodeContext;
  const { handler } = blockHandlers().find((each) => each.call.name === name)!;
  try {
    return await handler!(request as never, context);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    refusals.push(error.message);
    return error.code;
  }
}

interface Header {
  readonly hash: Uint8Array;
  readonly height: number;
  readonly depth: number;
  readonly pow_hash: unknown;
  readonly orphan_status: boolean;
}

const short = ({ hash, height, depth, pow_hash, orphan_status }: Header) => [
  toHex(hash),
  height,
  depth,
  pow_hash,
  orphan_status,
];

const headerOf = async (name: string, request: object, scene?: Scene) => {
  const answer = (await call(name, request, scene)) as { readonly block_header: Header };
  return typeof answer === "number" ? answer : short(answer.block_header);
};

test("the number of blocks, the newest, and each by its height are told", async () => {
  assert.deepEqual(await call("get_block_count", []), { count: 4 });
  const { hash, height } = (await call("/get_height", {})) as { hash: Uint8Array; height: number };
  assert.deepEqual([toHex(hash), height], [main[3], 4]);
  assert.equal(await call("on_get_block_hash", [0n]), main[0]);
  assert.equal(await call("on_get_block_hash", [3n]), main[3]);
  for (const height of [4n, 5n, 2n ** 64n - 1n])
    assert.equal(await call("on_get_block_hash", [height]), errorCodes.tooBigHeight);
  assert.match(refusals.at(-1)!, /greater than current top block height: 3$/);
  for (const heights of [[], [1n, 1n]])
    assert.equal(await call("on_get_block_hash", heights), errorCodes.wrongParam);
});

test("headers are told by height and of the newest, with the work where it is asked for", async () => {
  const at = (height: bigint, fill_pow_hash = false) =>
    headerOf("get_block_header_by_height", { height, fill_pow_hash });
  assert.deepEqual(await at(0n), [main[0], 0, 3, "", false]);
  assert.deepEqual(await at(3n), [main[3], 3, 0, "", false]);
  assert.deepEqual(await at(3n, true), [main[3], 3, 0, powHash, false]);
  for (const height of [4n, 2n ** 64n - 1n]) assert.equal(await at(height), errorCodes.tooBigHeight);
  assert.match(refusals.at(-1)!, /greater than current top block height: 3$/);
  const newest = { fill_pow_hash: true };
  assert.deepEqual(await headerOf("get_last_block_header", newest), [main[3], 3, 0, powHash, false]);
  assert.deepEqual(await headerOf("get_last_block_header", newest, { restricted: true }), [
    main[3],
    3,
    0,
    "",
    false,
  ]);
  const busy = { status: "BUSY", block_header: noHeader };
  assert.deepEqual(await call("get_last_block_header", newest, { isSynchronized: false }), busy);
});

const byHash = (request: object, scene?: Scene) =>
  call("get_block_header_by_hash", { hash: "", hashes: [], fill_pow_hash: false, ...request }, scene);

test("headers are told by ids, of blocks beside the chain, too", async () => {
  assert.deepEqual(await byHash({}), { block_header: noHeader, block_headers: [] });
  const one = (await byHash({ hash: beside[0] })) as { block_header: Header; block_headers: Header[] };
  assert.deepEqual(short(one.block_header), [beside[0], 2, 1, "", true]);
  assert.deepEqual(one.block_headers, []);
  const hashes = [main[2]!, beside[1]!, main[0]!];
  const more = (await byHash({ hashes, fill_pow_hash: true })) as typeof one;
  assert.deepEqual(more.block_header, noHeader);
  assert.deepEqual(more.block_headers.map(short), [
    [main[2], 2, 1, powHash, false],
    [beside[1], 3, 0, powHash, true],
    [main[0], 0, 3, powHash, false],
  ]);
  const single = (await byHash({ hashes: [main[3]] })) as typeof one;
  assert.deepEqual(single.block_headers.map(short), [[main[3], 3, 0, "", false]]);
  assert.equal(await byHash({ hash: "ab".repeat(32) }), errorCodes.internal);
  for (const hash of ["ab", "zz".repeat(32)]) assert.equal(await byHash({ hash }), errorCodes.wrongParam);
});

test("a restricted port tells a thousand headers by their ids at once", async () => {
  const many = (count: number) => Array<string>(count).fill(main[1]!);
  const { block_headers } = (await byHash({ hashes: many(1000) }, { restricted: true })) as {
    block_headers: Header[];
  };
  assert.equal(block_headers.length, 1000);
  assert.equal(await byHash({ hashes: many(1001) }, { restricted: true }), errorCodes.restricted);
});

const rangeOf = async (start_height: number, end_height: number, more: object = {}, scene?: Scene) => {
  const request = { start_height, end_height, fill_pow_hash: false, ...more };
  const answer = (await call("get_block_headers_range", request, scene)) as {
    readonly headers: Drawn<Header> | Header[];
  };
  if (typeof answer === "number") return answer;
  const { headers } = answer;
  return Array.from({ length: headers.length }, (_, i) => short(headers.at(i)!));
};

test("a range of headers is told from its first to its last, if the chain has them", async () => {
  const all = [0, 1, 2, 3].map((height) => [main[height], height, 3 - height, "", false]);
  assert.deepEqual(await rangeOf(0, 3), all);
  assert.deepEqual(await rangeOf(2, 2), [all[2]]);
  const withWork = all.map(([hash, height, depth]) => [hash, height, depth, powHash, false]);
  assert.deepEqual(await rangeOf(1, 3, { fill_pow_hash: true }), withWork.slice(1));
  assert.deepEqual(await rangeOf(1, 3, { fill_pow_hash: true }, { restricted: true }), all.slice(1));
  for (const [start, end] of [
    [0, 4],
    [4, 4],
    [4, 3],
    [2, 1],
  ] as const)
    assert.equal(await rangeOf(start, end), errorCodes.tooBigHeight);
});

test("a restricted port tells a thousand and one headers of a range", async () => {
  const long = { restricted: true, height: 2000 };
  const countOf = async (last: number, scene: Scene) => {
    const request = { start_height: 0, end_height: last, fill_pow_hash: false };
    const answer = await call("get_block_headers_range", request, scene);
    return typeof answer === "number" ? answer : (answer as { headers: { length: number } }).headers.length;
  };
  assert.equal(await countOf(1000, long), 1001);
  assert.equal(await countOf(1001, long), errorCodes.restricted);
  assert.equal(await countOf(1001, { ...long, restricted: false }), 1002);
});

test("a block is told by its height or its id", async () => {
  const block = async (request: object) =>
    (await call("get_block", { height: 0n, hash: "", fill_pow_hash: false, ...request })) as {
      blob: Uint8Array;
      tx_hashes: unknown[];
      block_header: Header;
    };
  const { blob, tx_hashes, block_header } = await block({ height: 2n });
  const info = chain.parts.store.read;
  assert.deepEqual([Buffer.from(blob), tx_hashes], [Buffer.from(info.blockBlob(2)!), []]);
  assert.deepEqual(short(block_header), [main[2], 2, 1, "", false]);
  const side = await block({ height: 1n, hash: beside[0], fill_pow_hash: true });
  assert.deepEqual(short(side.block_header), [beside[0], 2, 1, powHash, true]);
  assert.equal(await block({ height: 4n }), errorCodes.tooBigHeight);
  assert.equal(await block({ hash: "ab".repeat(32) }), errorCodes.internal);
});

test("blocks beside the chain are told in the order of the original's table", async () => {
  const sorted = beside.map((id) => Buffer.from(id, "hex")).sort(compareTableOrder);
  assert.deepEqual(await call("/get_alt_blocks_hashes", {}), { blks_hashes: sorted.map(toHex) });
  const { chains } = (await call("get_alternate_chains", {})) as { chains: { block_hashes: string[] }[] };
  assert.deepEqual(
    chains.map(({ block_hashes }) => block_hashes),
    [beside.toReversed()],
  );
});

test("pruning is begun or checked as is asked, and told", async () => {
  const asked: string[] = [];
  let isRight = true;
  const pruner = {
    prune: async () => void asked.push("prune"),
    check: async () => {
      asked.push("check");
      return isRight;
    },
  };
  const whole = { pruned: false, pruning_seed: 0 };
  assert.deepEqual(await call("prune_blockchain", { check: false }, { pruner }), whole);
  assert.deepEqual(await call("prune_blockchain", { check: true }, { pruner }), whole);
  isRight = false;
  assert.equal(await call("prune_blockchain", { check: true }, { pruner }), errorCodes.internal);
  assert.deepEqual(asked, ["prune", "check", "check"]);
});

test("blocks are popped, and the answer comes once they are", async () => {
  assert.deepEqual(await call("/pop_blocks", { nblocks: 2 }), { height: 2 });
  assert.deepEqual(await call("get_block_count", []), { count: 2 });
});
