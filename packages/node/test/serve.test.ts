import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ByteBudget, type ByteReservation } from "@anulo/limits";
import type { Notification } from "@anulo/p2p";
import { blockId, fromHex, readBlock, readRecord } from "@anulo/protocol";
import { popBlocks } from "../src/chain/chain.ts";
import { messages } from "../src/peers/messages.ts";
import { emptyChain, loadBlocks, pow } from "./chain-fixture.ts";
import { meetStranger, type Stranger, speaking, type TestNode } from "./peer-network.ts";
import { recordedChain } from "./recorded-chains.ts";

const HEIGHT = 80;
let node: TestNode;

before(async () => {
  node = speaking(await emptyChain(), { isOffline: true });
  await loadBlocks(node.chain.parts, recordedChain().slice(0, HEIGHT - 1));
});

after(async () => {
  await node.protocol.stop();
  await node.chain.close();
  assert.deepEqual(node.faults, []);
  await pow.stop();
});

const ids = recordedChain()
  .slice(0, HEIGHT - 1)
  .map(({ blob }) => blockId(readBlock(blob)));
const heardOf = ({ heard }: Stranger, name: keyof typeof messages) =>
  heard.filter(({ id }) => id === messages[name].id);

test("blocks, chains and transactions are sent to who asks for them", async () => {
  const stranger = meetStranger(node);
  await stranger.say(messages.requestBlocks, { blocks: ids.slice(0, 20), prune: false });
  const [blocks] = heardOf(stranger, "blocks");
  assert.equal(readRecord(messages.blocks.payload, blocks!.bytes).blocks.length, 20);
  const genesis = node.chain.parts.store.read.blockInfo(0)!.hash;
  await stranger.say(messages.requestChain, { block_ids: [ids[4]!, genesis], prune: false });
  const [chain] = heardOf(stranger, "chain");
  const answer = readRecord(messages.chain.payload, chain!.bytes);
  assert.deepEqual(answer.m_block_ids, ids.slice(4));
  assert.equal(answer.m_block_weights.length, answer.m_block_ids.length);
  assert.equal(answer.start_height, 5);
  assert.equal(stranger.dropped, undefined);
});

// Closes: a short request that names one thing many times, and is answered with it as often.
test("who names a block or an index twice in a request is dropped and scored", async () => {
  const id = ids[0]!;
  const asks: ((stranger: Stranger) => Promise<void>)[] = [
    (stranger) => stranger.say(messages.requestBlocks, { blocks: [id, ids[1]!, id], prune: false }),
    (stranger) =>
      stranger.say(messages.requestMissing, {
        block_hash: id,
        current_blockchain_height: 1,
        missing_tx_indices: [0, 0],
      }),
  ];
  for (const ask of asks) {
    const stranger = meetStranger(node);
    await ask(stranger);
    assert.deepEqual(stranger.dropped?.blame, { score: 1 }, stranger.dropped?.reason);
    assert.deepEqual(
      stranger.heard.filter(({ id: message }) => message !== messages.requestChain.id),
      [],
    );
  }
});

// Closes: responses whose memory is counted only once they are whole.
test("a response counts as the memory of who asked from its first block on", async () => {
  const stranger = meetStranger(node);
  const budget = new ByteBudget(1_000_000);
  let most = 0;
  const reserve = (bytes: number): ByteReservation => {
    const held = budget.reserve(bytes)!;
    const resize = (size: number) => {
      const isGranted = held.resize(size);
      most = Math.max(most, budget.used);
      return isGranted;
    };
    const release = () => held.release();
    return {
      get bytes() {
        return held.bytes;
      },
      resize,
      release,
    };
  };
  Object.assign(stranger.peer, { reserve });
  await stranger.say(messages.requestBlocks, { blocks: ids, prune: false });
  const [response] = heardOf(stranger, "blocks");
  assert.ok(most > 0.9 * response!.bytes.length, `${most} of ${response!.bytes.length} bytes`);
  assert.equal(budget.used, 0);
});

/** What a peer is answered, or dropped for, while such requests have other limits. */
async function askedWithin<T>(
  asked: TestNode,
  message: Notification<T>,
  { ask, rows, responseBytes, room }: { ask: T; rows: number; responseBytes: number; room: number },
) {
  const before = { ...message.cost };
  Object.assign(message.cost, { rows, responseBytes });
  try {
    const stranger = meetStranger(asked, {}, { reserve: (bytes) => new ByteBudget(room).reserve(bytes) });
    await stranger.say(message, ask);
    const answers = [...heardOf(stranger, "blocks"), ...heardOf(stranger, "newFluffyBlock")];
    return stranger.dropped ?? answers.length;
  } finally {
    Object.assign(message.cost, before);
  }
}

// Closes: rows and bytes of a response that nobody counts.
test("a request is answered while its rows, its bytes and the memory for them are within the limits", async () => {
  const at = recordedChain().findIndex(({ transactions }) => transactions.length > 1);
  const own = speaking(await emptyChain(), { isOffline: true });
  await loadBlocks(own.chain.parts, recordedChain().slice(0, at + 1));
  const { hash, blob, transactions } = recordedChain()[at]!;
  const indices = transactions.map((_, i) => i);
  const rows = 3 * transactions.length;
  const bytes = transactions.reduce((sum, { length }) => sum + length + 40, 0);
  const check = async <T>(message: Notification<T>, exact: Parameters<typeof askedWithin<T>>[2]) => {
    const within = (change: object) => askedWithin(own, message, { ...exact, ...change });
    assert.equal(await within({}), 1);
    const tooMuch = { reason: "asks for too much at once", blame: { score: 1 } };
    assert.deepEqual(await within({ rows: exact.rows - 1 }), tooMuch);
    assert.deepEqual(await within({ responseBytes: exact.responseBytes - 1 }), tooMuch);
    const noRoom = { reason: "asks for more than there is memory for", blame: {} };
    assert.deepEqual(await within({ room: exact.room - 1 }), noRoom);
  };
  await check(messages.requestMissing, {
    ask: { block_hash: fromHex(hash), current_blockchain_height: 1, missing_tx_indices: indices },
    rows,
    responseBytes: bytes,
    room: bytes,
  });
  const whole = blob.length + bytes;
  await check(messages.requestBlocks, {
    ask: { blocks: [fromHex(hash)], prune: false },
    rows: 3 + rows,
    responseBytes: whole,
    room: whole,
  });
  await own.protocol.stop();
  await own.chain.close();
});

/** A node of its own, and a stranger in whose requests it pauses after every step; `act` is called in one of the pauses. */
async function nodeWithPauses(length: number, at: number, act: (node: TestNode) => Promise<unknown>) {
  const own = speaking(await emptyChain(), { isOffline: true });
  await loadBlocks(own.chain.parts, recordedChain().slice(0, length));
  let pauses = 0;
  const pause = async () => {
    if (++pauses === at) await act(own);
  };
  const stranger = meetStranger(own);
  Object.assign(stranger.peer, { slicing: { sliceMs: 0, pause } });
  const end = async () => {
    assert.ok(pauses >= at);
    await own.protocol.stop();
    await own.chain.close();
    assert.deepEqual(own.faults, []);
  };
  return { own, stranger, end };
}

// Closes: blocks with the transactions of others, or a point for who asked, where the chain changed meanwhile.
test("who asks for a block that leaves the chain meanwhile is told that it is not there", async () => {
  const at = recordedChain().findIndex(({ transactions }) => transactions.length > 1);
  const length = at + 1;
  const id = blockId(readBlock(recordedChain()[at]!.blob));
  const { own, stranger, end } = await nodeWithPauses(length, 3, ({ chain }) => popBlocks(chain.parts, 1));
  const below = own.chain.parts.store.read.blockInfo(length - 1)!.hash;
  await stranger.say(messages.requestBlocks, { blocks: [id, below], prune: false });
  assert.equal(stranger.dropped, undefined);
  const [message] = heardOf(stranger, "blocks");
  const { blocks, missed_ids } = readRecord(messages.blocks.payload, message!.bytes);
  assert.deepEqual(missed_ids, [id]);
  assert.deepEqual(
    blocks.map(({ block }) => blockId(readBlock(block))),
    [below],
  );
  await end();
});

// Closes: a height that seems to shrink, for which honest peers drop and blame each other.
test("a chain that grows while it is told of is as long as it is in the end", async () => {
  const { own, stranger, end } = await nodeWithPauses(60, 1, ({ chain }) =>
    loadBlocks(chain.parts, recordedChain().slice(60, 61)),
  );
  const genesis = own.chain.parts.store.read.blockInfo(0)!.hash;
  await stranger.say(messages.requestChain, { block_ids: [genesis], prune: false });
  const [message] = heardOf(stranger, "chain");
  const { total_height, m_block_ids } = readRecord(messages.chain.payload, message!.bytes);
  assert.equal(total_height, own.chain.parts.store.read.height());
  assert.equal(m_block_ids.length, total_height - 1);
  await end();
});
