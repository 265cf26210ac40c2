import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { feeOf } from "@anulo/consensus";
import {
  fromHex,
  readBlock,
  readTransaction,
  toHex,
  transactionHash,
  transactionWeight,
} from "@anulo/protocol";
import { parseZmqEndpoint, silent } from "@anulo/rpc";
import type { PoolTransaction } from "@anulo/storage";
import { acceptBlock } from "../src/chain/chain.ts";
import { readIncomingBlock, readSuppliedTransaction } from "../src/chain/incoming-block.ts";
import type { OpenChain } from "../src/chain/open-chain.ts";
import type { AppendedBlock } from "../src/chain/parts.ts";
import { Backlog } from "../src/mining/backlog.ts";
import { AnnouncedTransactions } from "../src/news/pool-news.ts";
import { createNews } from "../src/news/publish-news.ts";
import { admit } from "../src/pool/admit.ts";
import type { PoolEntry } from "../src/pool/entry.ts";
import { chainIn, mine, now } from "./chain-fixture.ts";
import { recordedChain } from "./recorded-chains.ts";

const blocks = recordedChain();
const first = blocks.findIndex(({ transactions }) => transactions.length > 1);
const { transactions: sent, blob: mined, hash } = blocks[first]!;

/** The first bytes of a subscriber of ZeroMQ, who wants all topics. Source: RFC 23/ZMTP 3.0. */
function subscriber(): Buffer {
  const greeting = Buffer.alloc(64);
  greeting.set([0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0]);
  greeting.write("NULL", 12);
  const ready = Buffer.from("\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03SUB", "latin1");
  return Buffer.concat([greeting, ready, Buffer.of(0, 1, 1)]);
}

/** The messages behind the publisher's greeting: each a topic and what it says. */
function messagesIn(bytes: Buffer): [string, unknown][] {
  const messages: [string, unknown][] = [];
  for (let at = 64; at + 2 <= bytes.length; ) {
    const flags = bytes[at]!;
    const isLong = (flags & 2) !== 0;
    const begin = at + (isLong ? 9 : 2);
    const size = isLong ? Number(bytes.readBigUInt64BE(at + 1)) : bytes[at + 1]!;
    if (begin + size > bytes.length) break;
    at = begin + size;
    if ((flags & 4) !== 0) continue;
    const text = bytes.subarray(begin, at).toString();
    const end = text.indexOf(":");
    messages.push([text.slice(0, end), JSON.parse(text.slice(end + 1))]);
  }
  return messages;
}

/** A chain with its news, and what a subscriber to all of it has heard. */
async function listening(t: TestContext, { withoutSubscriber = false } = {}) {
  const news = createNews([parseZmqEndpoint("tcp://127.0.0.1:*")], silent);
  const chain = await chainIn(undefined, { onAppended: news.observe });
  const publisher = await news.start(chain, new Backlog(now, (obligations) => obligations));
  let received = Buffer.alloc(0);
  const until = async (isSo: () => boolean) => {
    for (let i = 0; i < 20_000 && !isSo(); i++) await turn();
    assert.ok(isSo());
  };
  t.after(async () => {
    await news.stop();
    await chain.close();
  });
  if (!withoutSubscriber) {
    const socket = connect(Number(publisher.addresses[0]!.split(":").at(-1)), "127.0.0.1");
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
    });
    await once(socket, "connect");
    socket.write(subscriber());
    t.after(() => socket.destroy());
    await until(() => publisher.isWanted("json-minimal-chain_main"));
  }
  let heard = 0;
  /** The next messages, once there are so many. */
  const next = async (count: number) => {
    await until(() => messagesIn(received).length >= heard + count);
    const messages = messagesIn(received).slice(heard);
    heard += messages.length;
    return messages;
  };
  return { news, chain, next, publisher };
}

async function load(chain: OpenChain, count: number): Promise<void> {
  for (const { blob } of blocks.slice(0, count)) await acceptBlock(chain.parts, readIncomingBlock(blob));
}

const names = (messages: readonly (readonly [string, unknown])[]) =>
  messages.map(([topic]) => topic.replace("json-", ""));
const ofTransaction = ["full-txpool_add", "minimal-txpool_add"];
const ofBlock = ["full-miner_data", "full-chain_main", "minimal-chain_main"];

test("a transaction is announced when it comes, a block with what a miner needs after it", async (t) => {
  const { chain, next } = await listening(t);
  await load(chain, first);
  const before = await next(3 * first);
  assert.deepEqual(names(before), Array(first).fill(ofBlock).flat());
  const [blob] = sent as [Uint8Array];
  const transaction = readTransaction(blob);
  const id = toHex(transactionHash(transaction));
  const weight = transactionWeight(transaction);
  await admit(chain.parts, { blob, doNotRelay: true });
  const [full, minimal] = await next(2);
  assert.deepEqual(names([full!, minimal!]), ofTransaction);
  const [shown] = full![1] as [{ inputs: unknown[]; extra: string }];
  assert.equal(shown.inputs.length, transaction.prefix.inputs.length);
  assert.equal(shown.extra, toHex(transaction.prefix.extra));
  const fee = Number(feeOf({ transaction, id: fromHex(id), weight, blob } as never));
  assert.deepEqual(minimal![1], [{ id, blob_size: blob.length, weight, fee }]);

  for (const tx of sent.slice(1)) await admit(chain.parts, { blob: tx, doNotRelay: true });
  await next(2 * (sent.length - 1));
  await acceptBlock(chain.parts, readIncomingBlock(mined));
  const after = await next(3);
  assert.deepEqual(names(after), ofBlock, "what was announced is not announced again");
  const [miner, whole, short] = after.map(([, value]) => value) as [
    Record<string, unknown>,
    [Record<string, unknown>],
    Record<string, unknown>,
  ];
  const block = readBlock(mined);
  assert.deepEqual([miner.height, miner.prev_id, miner.tx_backlog], [first + 2, hash, []]);
  assert.equal(miner.difficulty, "0x1");
  assert.deepEqual(whole[0].tx_hashes, block.transactionHashes.map(toHex));
  assert.equal(whole[0].prev_id, toHex(block.header.previousId));
  const previous = toHex(block.header.previousId);
  assert.deepEqual(short, { first_height: first + 1, first_prev_id: previous, ids: [hash] });
});

test("transactions that came with their block are announced with it, those not to be relayed at once", async (t) => {
  const { chain, next } = await listening(t);
  await load(chain, first);
  await next(3 * first);
  const [own, ...others] = sent as [Uint8Array, ...Uint8Array[]];
  await admit(chain.parts, { blob: own, doNotRelay: true });
  assert.deepEqual(names(await next(2)), ofTransaction);
  const supplied = others.map((each) => readSuppliedTransaction(each));
  const transactions = new Map(supplied.map((each) => [toHex(each.id), each]));
  await acceptBlock(chain.parts, { ...readIncomingBlock(mined), transactions });
  const messages = await next(2 + 3);
  assert.deepEqual(names(messages), [...ofTransaction, ...ofBlock]);
  assert.equal((messages[1]![1] as unknown[]).length, others.length);
});

test("after a heavier branch its blocks are announced again, behind the miner data of its end", async (t) => {
  const { chain, next } = await listening(t);
  const [below] = await mine(chain.parts, 1);
  await mine(chain.parts, 1);
  await next(6);
  const ids = await mine(chain.parts, 2, below);
  const messages = await next(3 * 2 + 1 + 2 * 2);
  const again = ofBlock.slice(1);
  assert.deepEqual(names(messages), [...ofBlock, ...ofBlock, ofBlock[0], ...again, ...again]);
  const short = messages.filter(([topic]) => topic.endsWith("minimal-chain_main"));
  const order = short.map(([, value]) => (value as { ids: string[] }).ids[0]);
  assert.deepEqual(order, [...ids, ...ids].map(toHex));
  const miners = messages.filter(([topic]) => topic.endsWith("miner_data"));
  assert.deepEqual(
    miners.map(([, value]) => (value as { height: number }).height),
    [3, 4, 4],
  );
});

test("where nobody listens, nothing is kept for them", async (t) => {
  const { chain, publisher } = await listening(t, { withoutSubscriber: true });
  await mine(chain.parts, 3);
  assert.equal(publisher.unread, 0);
});

type Row = Pick<PoolTransaction, "keptByBlock" | "doNotRelay" | "phase">;

function poolOf(rows: Record<string, Row>) {
  const entries = new Map(
    Object.entries(rows).map(([key, row]) => {
      const blob = sent[0]!;
      return [
        key,
        { id: fromHex(key), key, row: { ...row, blob, weight: 5, fee: 7n } } as unknown as PoolEntry,
      ];
    }),
  );
  const pool = {
    get size() {
      return entries.size;
    },
    get: (key: string) => entries.get(key),
    entries: () => [...entries.values()],
  };
  return { entries, announced: new AnnouncedTransactions(pool) };
}

const [a, b, c, d] = ["aa", "bb", "cc", "dd"] as const;
const fluff: Row = { keptByBlock: false, doNotRelay: false, phase: "fluff" };
const stem: Row = { ...fluff, phase: "stem" };

test("a transaction on its stem is announced once it is public, and none twice", () => {
  const { entries, announced } = poolOf({ [a]: fluff });
  const put = (key: string, row: Row) =>
    void entries.set(key, {
      ...entries.get(a)!,
      id: fromHex(key),
      key,
      row: { ...entries.get(a)!.row, ...row },
    });
  assert.equal(announced.added(fromHex(a)), undefined, "it waited before");
  put(b, stem);
  assert.equal(announced.added(fromHex(b)), undefined);
  assert.deepEqual(
    announced.madePublic([b, c].map((key) => fromHex(key))).map(({ id }) => toHex(id)),
    [b],
  );
  assert.equal(announced.added(fromHex(b)), undefined);
  put(c, { ...stem, doNotRelay: true });
  const news = announced.added(fromHex(c))!;
  assert.deepEqual([toHex(news.id), news.blobSize, news.weight, news.fee], [c, sent[0]!.length, 5, 7n]);
  assert.deepEqual(news.transaction(), readTransaction(sent[0]!));
  assert.equal(announced.added(fromHex(d)), undefined, "it is no more there");
});

test("of a block those are announced that were not, but for those of blocks that left the chain", () => {
  const { entries, announced } = poolOf({ [a]: fluff, [b]: stem, [c]: { ...fluff, keptByBlock: true } });
  announced.added(fromHex(c));
  const { entries: late } = poolOf({ [b]: fluff, [d]: { ...fluff, keptByBlock: true } });
  const transaction = readTransaction(sent[0]!);
  const supplied = { id: fromHex("ee"), blob: sent[0]!, weight: 9, transaction };
  const mined = (keys: Record<string, PoolEntry | undefined>, freed?: string[]) =>
    announced
      .mined({
        incoming: { transactions: new Map([["ee", supplied]]) },
        transactions: new Map(Object.entries(keys)),
        freed: freed && new Map(freed.map((key) => [key, undefined])),
      } as unknown as AppendedBlock)
      .map(({ id, weight }) => [toHex(id), weight]);
  assert.deepEqual(mined({ [a]: entries.get(a) }), [], "announced before");
  assert.deepEqual(mined({ [b]: entries.get(b) }), [], "on its stem still");
  assert.deepEqual(mined({ [b]: late.get(b) }), [[b, 5]], "public, and not announced yet");
  assert.deepEqual(mined({ [d]: late.get(d) }), [], "of a block before");
  assert.deepEqual(mined({ ee: undefined }), [["ee", 9]], "came with the block");
  assert.deepEqual(mined({ ee: undefined }, ["ee"]), [], "of a block that left the chain");
  assert.deepEqual(mined({ ff: undefined }), [], "known to nobody");
});
