/** The proof of work that is told of a block: computed with the seed of the block's own branch, when it is asked for. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seedHeight } from "@anulo/consensus";
import { genesisBlock, networks, writeBlock } from "@anulo/protocol";
import type { PowWork } from "../src/pow/work.ts";
import type { NodeContext } from "../src/rpc/context.ts";
import { describeHeaderOf } from "../src/rpc/headers.ts";
import { describeKnownHeader } from "../src/rpc/read-blocks.ts";

const genesis = genesisBlock(networks.mainnet);
const idOf = (height: number, branch = 1) => new Uint8Array(32).fill(branch).fill(height % 251, 1, 3);

function blobOf(previousId: Uint8Array, majorVersion: number): Uint8Array {
  return writeBlock({ ...genesis, header: { ...genesis.header, majorVersion, previousId } });
}

interface Scene {
  readonly majorVersion?: number;
  /** Height of the first block beside the chain; none by default. */
  readonly branchFrom?: number;
  readonly known?: Uint8Array;
  readonly restricted?: boolean;
  readonly dialect?: "upstream" | "contract";
}

/** A node and the block at height 2200, whose seed is that of block 2048. */
function nodeWith({ majorVersion = 16, branchFrom, known, restricted = false, dialect = "contract" }: Scene) {
  const height = 2200;
  const onBranch = (at: number) => branchFrom !== undefined && at >= branchFrom;
  const branchOf = (at: number) => (onBranch(at) ? 2 : 1);
  const heights = new Map<string, number>();
  for (let at = 0; at <= height; at++) heights.set(Buffer.from(idOf(at, branchOf(at))).toString("hex"), at);
  const heightIn = (id: Uint8Array) => heights.get(Buffer.from(id).toString("hex"));
  const read = {
    heightOf: (id: Uint8Array) => {
      const at = heightIn(id);
      return at === undefined || onBranch(at) ? undefined : at;
    },
    alternativeBlock: (id: Uint8Array) => {
      const at = heightIn(id)!;
      return { height: at, blob: blobOf(idOf(at - 1, branchOf(at - 1)), majorVersion) };
    },
    blockField: (at: number) => idOf(at),
  };
  const works: PowWork[] = [];
  const powHash = new Uint8Array(32).fill(9);
  const pow = {
    hashOf: () => known,
    hash: async (work: PowWork) => {
      works.push(work);
      return powHash;
    },
  };
  const context = {
    parts: { state: { view: () => ({ height: 2300, seedSchedule: undefined }) } },
    pow,
    restricted,
    dialect,
  } as unknown as NodeContext;
  const blob = blobOf(idOf(height - 1, branchOf(height - 1)), majorVersion);
  const header = { ...genesis.header, majorVersion };
  const block = {
    blob,
    header,
    hash: idOf(height, branchOf(height)),
    height,
    orphan: branchFrom !== undefined,
  };
  const rest = {
    reward: 1n,
    minerTransactionHash: idOf(1),
    transactionCount: 1,
    weight: 1,
    longTermWeight: 1,
  };
  const found = { ...block, ...rest, difficulty: 1n, cumulativeDifficulty: 1n };
  const describe = (fillPowHash: boolean) =>
    describeHeaderOf(context, { read: read as never, block: found, fillPowHash });
  return { context, found, describe, works, powHash };
}

test("RandomX is seeded by the block of its own branch, where that is beside the chain above it by the chain's", async () => {
  assert.equal(seedHeight(2200), 2048);
  for (const [branchFrom, branch] of [
    [undefined, 1],
    [2049, 1],
    [2048, 2],
    [2040, 2],
  ] as const) {
    const { describe, works, powHash } = nodeWith(branchFrom === undefined ? {} : { branchFrom });
    const { pow_hash, depth } = (await describe(true)) as { pow_hash: unknown; depth: number };
    assert.deepEqual([pow_hash, depth], [powHash, 99]);
    assert.deepEqual([works.length, works[0]!.seedId], [1, idOf(2048, branch)]);
  }
});

test("earlier versions have no seed, and a hash that is known is not computed again", async () => {
  const early = nodeWith({ majorVersion: 11 });
  await early.describe(true);
  assert.deepEqual([early.works.length, early.works[0]!.seedId], [1, undefined]);
  const known = new Uint8Array(32).fill(4);
  const later = nodeWith({ known });
  const header = (await later.describe(true)) as { pow_hash: unknown };
  assert.deepEqual([header.pow_hash, later.works.length], [known, 0]);
});

test("who does not ask, or is a stranger, is told what is known, and upstream nothing", async () => {
  const known = new Uint8Array(32).fill(4);
  const told = async (scene: Scene, isAsked: boolean) => {
    const node = nodeWith(scene);
    const { pow_hash } = (await node.describe(isAsked)) as { pow_hash: unknown };
    assert.equal(node.works.length, 0);
    return pow_hash;
  };
  assert.equal(await told({}, false), "");
  assert.equal(await told({ restricted: true }, true), "");
  assert.deepEqual(await told({ known }, false), known);
  assert.deepEqual(await told({ known, restricted: true }, true), known);
  assert.equal(await told({ known, dialect: "upstream" }, false), "");
  const { context, found } = nodeWith({});
  const each = [2201, 2202, 2200].map((length) => describeKnownHeader(context, found, length).depth);
  assert.deepEqual(each, [0, 1, 0]);
});
