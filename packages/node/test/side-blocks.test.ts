import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { readBlock, toHex, writeBlock, writeRecord } from "@anulo/protocol";
import { popBlocks } from "../src/chain/chain.ts";
import type { OpenChain } from "../src/chain/open-chain.ts";
import type { ChainParts } from "../src/chain/parts.ts";
import { createSideBlocks } from "../src/chain/side-blocks.ts";
import { messages } from "../src/peers/messages.ts";
import { chainIn, emptyChain, mine } from "./chain-fixture.ts";
import { connect, heightOf, speaking, type TestNode, topOf, until } from "./peer-network.ts";
import { recordedChain } from "./recorded-chains.ts";

const open: TestNode[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const { protocol, chain, faults } of open.splice(0)) {
    await protocol.stop();
    await chain.close();
    assert.deepEqual(faults, []);
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "anulo-side-blocks-"));
  folders.push(folder);
  return join(folder, "chain.mdb");
}

function talking(chain: OpenChain): TestNode {
  const node = speaking(chain);
  open.push(node);
  return node;
}

const sideIds = ({ store }: ChainParts) =>
  store.read
    .alternativeBlocks()
    .map(({ hash }) => toHex(hash))
    .sort();
const keysOf = (ids: readonly Uint8Array[]) => ids.map(toHex).sort();

/** Index and rows say the same, and every side block stands on something. */
function checkSound(parts: ChainParts): void {
  const { read } = parts.store;
  const loaded = createSideBlocks(read);
  assert.equal(parts.sideBlocks.count, loaded.count);
  assert.equal(parts.sideBlocks.size, loaded.size);
  assert.equal(parts.sideBlocks.heaviest()?.cumulativeDifficulty, loaded.heaviest()?.cumulativeDifficulty);
  for (const { parentId } of loaded.draft().roots()) assert.notEqual(read.heightOf(parentId), undefined);
}

/** Copies the main chain of one node to another. */
async function sync(from: TestNode, to: TestNode): Promise<void> {
  const { close } = connect(to, from);
  await until(to, () => topOf(to) === topOf(from));
  close();
}

// Stuck for ever: side blocks that hang in the air make an honest peer look like a liar.
test("what stands on popped blocks leaves with them, what stands below stays", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const main = await mine(parts, 10);
  const low = await mine(parts, 2, main[3]);
  const high = await mine(parts, 2, main[7]);
  const onSide = await mine(parts, 1, high[0]);
  assert.deepEqual(sideIds(parts), keysOf([...low, ...high, ...onSide]));
  checkSound(parts);
  await popBlocks(parts, 3);
  assert.deepEqual(sideIds(parts), keysOf(low), "of the block at height 8 on, all is gone");
  checkSound(parts);
  await chain.close();
});

test("a reorganisation there and back leaves the side blocks of both branches in step", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const main = await mine(parts, 6);
  const onMain = await mine(parts, 1, main[4]);
  const side = await mine(parts, 5, main[2]);
  assert.equal(toHex(parts.state.view().topId), toHex(side.at(-1)!));
  assert.deepEqual(sideIds(parts), keysOf([...main.slice(3), ...onMain]));
  checkSound(parts);
  await mine(parts, 3, main[5]);
  assert.deepEqual(sideIds(parts), keysOf([...side, ...onMain]));
  checkSound(parts);
  await chain.close();
});

test("side blocks are dropped at the start, unless they are to be kept", async () => {
  const path = newPath();
  const first = await chainIn(path);
  const main = await mine(first.parts, 5);
  const side = await mine(first.parts, 2, main[1]);
  await first.close();
  const second = await chainIn(path, { keepAltBlocks: true });
  assert.deepEqual(sideIds(second.parts), keysOf(side));
  checkSound(second.parts);
  // As a version that left orphans behind would have written it.
  second.parts.store.write((writer) => writer.removeAlternativeBlock(side[0]!));
  await second.close();
  const third = await chainIn(path, { keepAltBlocks: true });
  assert.deepEqual(sideIds(third.parts), []);
  await mine(third.parts, 2, main[1]);
  await third.close();
  const fourth = await chainIn(path);
  assert.deepEqual(sideIds(fourth.parts), []);
  assert.equal(fourth.parts.sideBlocks.count, 0);
  assert.equal(fourth.parts.store.read.height(), 6);
  await fourth.close();
});

// Disk and memory without bound: side blocks of strangers.
test("beyond the limits the lightest side blocks leave from their tips, never the branch being built", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const main = await mine(parts, 8);
  const short = await mine(parts, 1, main[0]);
  const long = await mine(parts, 4, main[1]);
  const { read } = parts.store;
  const leaving = (maxCount: number, keep: Uint8Array, maxSize = Number.POSITIVE_INFINITY) => {
    const { key } = { key: toHex(keep) };
    const draft = createSideBlocks(read, { maxCount, maxSize }).draft();
    return [...draft.evictable(key, 100)].map((block) => block.key);
  };
  assert.deepEqual(leaving(6, main[7]!), []);
  assert.deepEqual(leaving(5, main[7]!), [toHex(short[0]!)]);
  assert.deepEqual(leaving(3, main[7]!), [short[0]!, long[3]!, long[2]!].map(toHex));
  assert.deepEqual(leaving(3, long[3]!), [toHex(short[0]!)], "more of it would be the branch being built");
  assert.deepEqual(leaving(3, short[0]!), [long[3]!, long[2]!, long[1]!].map(toHex));
  const oneSize = parts.sideBlocks.size / 5;
  assert.deepEqual(leaving(100, main[7]!, 100 + 4.5 * oneSize), [toHex(short[0]!)]);
  await chain.close();
});

test("a side block that others stand on leaves after all of them", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const main = await mine(parts, 8);
  const base = await mine(parts, 2, main[0]);
  const short = await mine(parts, 1, base[1]);
  const long = await mine(parts, 3, base[1]);
  const order = [...short, ...long.toReversed(), ...base.toReversed()].map(toHex);
  for (let count = 1; count <= order.length; count++) {
    const limits = { maxCount: order.length + 1 - count, maxSize: Number.POSITIVE_INFINITY };
    const draft = createSideBlocks(parts.store.read, limits).draft();
    const leaving = Array.from(draft.evictable(toHex(main[7]!), 100), ({ key }) => key);
    assert.deepEqual(leaving, order.slice(0, count));
  }
  await chain.close();
});

// Stuck for ever: an operator takes a wrong branch back, and the node takes its honest peers for liars.
test("a node whose operator popped blocks follows its peer again, though side blocks stood on them", async () => {
  const a = talking(await emptyChain());
  const b = talking(await emptyChain());
  const main = await mine(b.chain.parts, 30);
  await sync(b, a);
  // A block that lost the race is beside both chains; then the peer goes on upon it.
  const fork = main[27]!;
  const links = connect(a, b);
  await until(a, () => a.protocol.links.every(({ state }) => state === "normal"));
  const side = await mine(b.chain.parts, 1, fork);
  await a.protocol.notifications
    .find(({ id }) => id === 2008)!
    .receive(links.atA.peer, fluffyBytes(b, side[0]!));
  assert.deepEqual(sideIds(a.chain.parts), keysOf(side));
  links.close();
  await mine(b.chain.parts, 3, side[0]);
  assert.equal(heightOf(b), 33);
  await popBlocks(a.chain.parts, 10);
  assert.equal(heightOf(a), 21);
  checkSound(a.chain.parts);
  const again = connect(a, b);
  await until(a, () => topOf(a) === topOf(b));
  assert.equal(again.atA.dropped, undefined);
});

test("a branch beside the chain becomes the chain once the heavier, wrong one is popped, as often as that happens", async () => {
  const a = talking(await emptyChain());
  const b = talking(await emptyChain());
  const common = await mine(a.chain.parts, 10);
  await sync(a, b);
  await mine(b.chain.parts, 5);
  await sync(b, a);
  const right = topOf(a);
  for (let time = 0; time < 2; time++) {
    await mine(a.chain.parts, 9, common[9]);
    assert.equal(heightOf(a), 20);
    assert.equal(a.chain.parts.sideBlocks.count, 5);
    await popBlocks(a.chain.parts, 9);
    assert.equal(heightOf(a), 11);
    const { atA, close } = connect(a, b);
    await until(a, () => topOf(a) === right);
    assert.equal(atA.dropped, undefined);
    close();
    checkSound(a.chain.parts);
  }
});

test("the same holds for a node that is started anew after its blocks were popped", async () => {
  for (const keepAltBlocks of [false, true]) {
    const path = newPath();
    const first = speaking(await chainIn(path));
    const b = talking(await emptyChain());
    const main = await mine(b.chain.parts, 30);
    await sync(b, first);
    await mine(first.chain.parts, 2, main[27]);
    await mine(first.chain.parts, 1, main[28]);
    await popBlocks(first.chain.parts, 4);
    await first.protocol.stop();
    await first.chain.close();
    await mine(b.chain.parts, 4, main[28]);
    const second = talking(await chainIn(path, { keepAltBlocks }));
    const { atA } = connect(second, b);
    await until(second, () => topOf(second) === topOf(b));
    assert.equal(atA.dropped, undefined);
    checkSound(second.chain.parts);
  }
});

/** A block beside a node's chain as it announces new ones to its peers. */
function fluffyBytes({ chain }: TestNode, id: Uint8Array): Uint8Array {
  const block = chain.parts.store.read.alternativeBlock(id)!.blob;
  const b = { pruned: false, block, weight: 0, txs: [] };
  return writeRecord(messages.newFluffyBlock.payload, { b, current_blockchain_height: 31 });
}

test("no more than 10,000 side blocks are kept, and 64 MiB of them", async (t) => {
  const chain = await emptyChain();
  t.after(() => chain.close());
  const { header, ...rest } = readBlock(recordedChain()[0]!.blob);
  const rowAt = (number: number) => {
    const hash = new Uint8Array(32);
    new DataView(hash.buffer).setUint32(0, number + 1);
    const blob = writeBlock({ ...rest, header: { ...header, previousId: new Uint8Array(32) } });
    return { hash, height: 1, cumulativeDifficulty: BigInt(number), alreadyGenerated: 0n, weight: 1, blob };
  };
  const kept = (count: number) => {
    const rows = Array.from({ length: count }, (_, number) => rowAt(number));
    return createSideBlocks({ ...chain.parts.store.read, alternativeBlocks: () => rows });
  };
  const leaving = (blocks: ReturnType<typeof kept>, size: number) =>
    [...blocks.draft().evictable("", size)].map(({ cumulativeDifficulty }) => cumulativeDifficulty);
  assert.deepEqual(leaving(kept(9_999), 1), []);
  assert.deepEqual(leaving(kept(10_000), 1), [0n], "the one with the least work");
  const few = kept(3);
  const room = 64 * 2 ** 20 - few.size;
  assert.deepEqual(leaving(few, room), []);
  assert.deepEqual(leaving(few, room + 1), [0n]);
});

test("a side block whose children are gone is the end of its branch again", async (t) => {
  const chain = await emptyChain();
  t.after(() => chain.close());
  const { header, ...rest } = readBlock(recordedChain()[0]!.blob);
  const idOf = (number: number) => new Uint8Array(32).fill(number);
  const rowOf = (number: number, parent: number) => ({
    hash: idOf(number),
    height: 1,
    cumulativeDifficulty: BigInt(number),
    alreadyGenerated: 0n,
    weight: 1,
    blob: writeBlock({ ...rest, header: { ...header, previousId: idOf(parent) } }),
  });
  // Above 1 there are 2 and 3, above 3 there is 4.
  const rows = [rowOf(1, 0), rowOf(2, 1), rowOf(3, 1), rowOf(4, 3)];
  const blocks = createSideBlocks({ ...chain.parts.store.read, alternativeBlocks: () => rows });
  const writer = { removeAlternativeBlock: () => undefined } as unknown as Parameters<
    ReturnType<typeof blocks.draft>["remove"]
  >[0];
  const heaviestWithout = (number: number) => {
    const draft = blocks.draft();
    draft.remove(writer, toHex(idOf(number)));
    draft.apply();
    return blocks.heaviest()?.cumulativeDifficulty;
  };
  assert.equal(blocks.heaviest()?.cumulativeDifficulty, 4n);
  assert.equal(heaviestWithout(4), 3n);
  assert.equal(heaviestWithout(3), 2n);
  assert.equal(heaviestWithout(2), 1n);
  assert.deepEqual([...blocks.draft().withDescendants([toHex(idOf(1))])].length, 1);
  assert.equal(heaviestWithout(1), undefined);
  assert.deepEqual([blocks.count, blocks.size], [0, 0]);
});
