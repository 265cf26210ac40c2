/** A short history of a wallet, and an event log in memory that hears it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { WalletChange } from "../src/changes.ts";
import type { WalletEvent } from "../src/events/event.ts";
import { type EventSink, Follower } from "../src/events/follower.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { type Kind, linesOf, openWith } from "./tell-forever.ts";

export const bytes = (value: number) => new Uint8Array(32).fill(value);
export const settings = { seedLanguage: "", refreshFromHeight: 0 };
type Entry = Parameters<EventSink["append"]>[0];

/** A log in memory that takes what it is told to take. */
export class MemoryLog implements EventSink {
  readonly entries: Entry[] = [];
  readonly cursors = new Map<string, number>();
  isBroken = false;
  tries = 0;

  /** What a log had when its service was killed after so many changes. */
  upTo(change: number): MemoryLog {
    const log = new MemoryLog();
    for (const entry of this.entries) if (entry.change <= change) log.take(entry);
    return log;
  }

  get told(): readonly [string, number, WalletEvent][] {
    return this.entries.flatMap(({ wallet, change, events }) =>
      events.map((event): [string, number, WalletEvent] => [wallet, change, event]),
    );
  }

  take(entry: Entry): void {
    const source = Buffer.from(entry.source).toString("hex");
    if (entry.change <= (this.cursors.get(source) ?? -1)) return;
    this.entries.push(entry);
    this.cursors.set(source, entry.change);
  }

  async cursorOf(source: Uint8Array): Promise<number | undefined> {
    if (this.isBroken) throw new Error("no space left");
    return this.cursors.get(Buffer.from(source).toString("hex"));
  }

  async append(entry: Entry): Promise<void> {
    this.tries += 1;
    await setTimeout(0);
    if (this.isBroken) throw new Error("no space left");
    this.take(entry);
  }
}

export function follow(sink: EventSink, wallet = "shop", failures: unknown[] = []): Follower {
  let seed = 0;
  const random = (count: number) => new Uint8Array(count).fill(++seed);
  return new Follower({ sink, wallet, random, retryMs: 1, onFailure: (error) => failures.push(error) });
}

/** The source of a wallet that no log knows. */
export async function source(wallet = "shop"): Promise<WalletChange> {
  const follower = follow(new MemoryLog(), wallet);
  await follower.begin(createLedger("regtest", settings));
  return { kind: "eventSource", source: follower.newSource! };
}

export function blocks(fromHeight: number, count: number, ...ids: number[]): WalletChange {
  const transactions = ids.map((id) => ({
    txHash: bytes(id),
    coinbase: false,
    height: fromHeight,
    timestamp: 1_000_000,
    unlockTime: 0n,
    fee: 1n,
    publicAmountOut: 0n,
    txSize: 0,
    paymentId: new Uint8Array(32),
    received: [
      {
        outputIndex: 0,
        globalIndex: BigInt(id),
        amount: BigInt(id),
        mask: bytes(0),
        rct: true,
        oneTimeKey: bytes(id),
        txPublicKey: bytes(0),
        keyImage: bytes(id + 100),
        subaddress: { major: 0, minor: 1 },
      },
    ],
    inputs: [],
  }));
  return { kind: "blocks", fromHeight, count, ids: [], lastBlockReward: 1n, transactions };
}

export const story: readonly WalletChange[] = [
  await source(),
  blocks(1, 4),
  blocks(5, 1, 1, 2),
  { kind: "note", txHash: "5c", note: "nothing to tell" },
  blocks(6, 9, 3),
  blocks(6, 2, 3),
  blocks(8, 30),
  { kind: "intent", intent: { key: "order", asked: bytes(1), method: "transfer", createdAt: 1 } },
];

/** Kills a process that keeps a wallet in files at `base` and tells a log of it, and looks what it has told. */
export async function killForever(base: string, kind: Kind): Promise<void> {
  const program = new URL("./tell-forever.js", import.meta.url).pathname;
  for (let round = 0, lines = 0; round < 6; round++) {
    const child = spawn(process.execPath, [program, base, kind], { stdio: "inherit" });
    // At a moment of its own, after it has got somewhere.
    while (linesOf(`${base}.log`).length < lines + 8) await setTimeout(5);
    await setTimeout(7 * round);
    child.kill("SIGKILL");
    await once(child, "exit");
    lines = linesOf(`${base}.log`).length;
  }
  const { ledger, follower, close } = await openWith(base, kind);
  assert.equal(follower.newSource, undefined);
  await close();
  const events = linesOf(`${base}.log`).flatMap((line) => line.events);
  const heightsOf = (type: string) => events.filter((each) => each.type === type).map(({ height }) => height);
  const heights = Array.from({ length: ledger.state.height - 1 }, (_, i) => i + 1);
  assert.ok(heights.length >= 30);
  assert.deepEqual(heightsOf("events_started"), [1]);
  assert.deepEqual(heightsOf("payment_in_block"), heights);
  assert.deepEqual(heightsOf("payment_confirmed"), heights.slice(0, -9));
  assert.deepEqual(heightsOf("payment_unlocked"), heights.slice(0, -9));
}
