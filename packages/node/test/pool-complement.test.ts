/** What a peer is sent that says which transactions it has, and in which steps: with a made-up pool. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteBudget, type ByteReservation } from "@anulo/limits";
import { PeerFault } from "@anulo/p2p";
import { COMPLEMENT_BYTES } from "../src/peers/messages.ts";
import { createServer } from "../src/peers/serve.ts";
import type { PoolEntry } from "../src/pool/entry.ts";

const STEP = 4096;

function idOf(number: number): Uint8Array {
  const id = new Uint8Array(32);
  const view = new DataView(id.buffer);
  // Few ids share their first bytes; some do here.
  view.setUint32(0, number >> 1);
  view.setUint32(28, number);
  return id;
}

type Row = { readonly keptByBlock: boolean; readonly doNotRelay: boolean; readonly phase: string };
const everybody: Row = { keptByBlock: false, doNotRelay: false, phase: "fluff" };

const entry = (number: number, row: Partial<Row> = {}, bytes = 4) =>
  ({
    id: idOf(number),
    row: { ...everybody, ...row, blob: new Uint8Array(bytes).fill(number) },
  }) as never as PoolEntry;

interface Scene {
  readonly pool: readonly PoolEntry[];
  readonly hashes: Uint8Array;
  readonly state?: string;
  /** Number of messages after which the peer is gone. */
  readonly leavesAfter?: number;
}

/** The sizes of what is sent, the pauses that were taken, and the memory held at most. */
async function complement({ pool, hashes, state = "normal", leavesAfter = Number.POSITIVE_INFINITY }: Scene) {
  const parts = { pool: { size: pool.length, entries: () => pool }, store: { read: {} } };
  const budget = new ByteBudget(10_000_000);
  let most = 0;
  const reserve = (bytes: number): ByteReservation => {
    const held = budget.reserve(bytes)!;
    return {
      get bytes() {
        return held.bytes;
      },
      resize: (size) => {
        most = Math.max(most, size);
        return held.resize(size);
      },
      release: () => held.release(),
    };
  };
  const sent: number[][] = [];
  let pauses = 0;
  let waits = 0;
  const pausesAt: number[] = [];
  const peer = {
    reserve,
    slicing: { sliceMs: 0, pause: async () => void pauses++ },
    notify(_: unknown, payload: { txs: readonly Uint8Array[] }) {
      if (sent.length >= leavesAfter) return false;
      pausesAt.push(pauses);
      sent.push(payload.txs.map((blob) => blob[0]!));
      return true;
    },
    unread: () => {
      waits++;
      return undefined;
    },
  };
  const server = createServer(parts as never, () => 0);
  await server.complement({ peer, state } as never, { hashes });
  assert.equal(budget.used, 0, "nothing is held in the end");
  return { sent, pauses, pausesBefore: pausesAt[0] ?? pauses, most, waits };
}

const many = (count: number, row?: Partial<Row>) => Array.from({ length: count }, (_, i) => entry(i, row));

test("what everybody may know is sent, but for what the peer has", async () => {
  const pool = [
    entry(1),
    entry(2, { doNotRelay: true }),
    entry(3, { phase: "stem" }),
    entry(4, { phase: "stem", keptByBlock: true }),
    entry(5),
    entry(6),
    entry(7),
  ];
  const hashes = Buffer.concat([5, 6, 9, 1].map(idOf));
  assert.deepEqual((await complement({ pool, hashes })).sent, [[4, 7]]);
  assert.deepEqual((await complement({ pool, hashes: new Uint8Array() })).sent, [[1, 4, 5, 6, 7]]);
  assert.deepEqual((await complement({ pool: pool.slice(1, 3), hashes })).sent, []);
  assert.deepEqual((await complement({ pool, hashes, state: "synchronizing" })).sent, []);
  await assert.rejects(complement({ pool, hashes: hashes.subarray(0, 33) }), PeerFault);
});

test("a step looks at 4,096 transactions of the pool, or as many ids of the peer", async () => {
  const none = { doNotRelay: true };
  const pausesOf = async (pool: number, ids: number) => {
    const scene = { pool: many(pool, none), hashes: new Uint8Array(32 * ids) };
    return (await complement(scene)).pauses;
  };
  assert.equal(await pausesOf(STEP - 1, 0), 0);
  assert.equal(await pausesOf(STEP, 0), 1);
  assert.equal(await pausesOf(2 * STEP - 1, 0), 1);
  assert.equal(await pausesOf(2 * STEP, 0), 2);
  assert.equal(await pausesOf(0, 1), 1);
  assert.equal(await pausesOf(0, STEP), 1);
  assert.equal(await pausesOf(0, STEP + 1), 2);
});

test("the index counts as the peer's memory, 160 bytes a transaction", async () => {
  assert.equal((await complement({ pool: many(3), hashes: new Uint8Array() })).most, 480);
});

test("messages are filled up to their size, with a pause after each, until the peer is gone", async () => {
  const half = COMPLEMENT_BYTES / 2;
  const pool = [
    entry(1, {}, half),
    entry(2, {}, half),
    entry(3, {}, 1),
    entry(4, {}, COMPLEMENT_BYTES),
    entry(5),
  ];
  const all = await complement({ pool, hashes: new Uint8Array() });
  assert.deepEqual(all.sent, [[1, 2], [3], [4], [5]]);
  assert.deepEqual([all.pauses - all.pausesBefore, all.waits], [4, 4]);
  const big = [entry(1, {}, COMPLEMENT_BYTES + 1), entry(2)];
  assert.deepEqual((await complement({ pool: big, hashes: new Uint8Array() })).sent, [[1], [2]]);
  const two = await complement({ pool, hashes: new Uint8Array(), leavesAfter: 2 });
  assert.deepEqual(two.sent, [[1, 2], [3]]);
  assert.deepEqual([two.pauses - two.pausesBefore, two.waits], [2, 2]);
});
