/** A wallet's store that grows until its process is killed, with a log beside it that receives the events of each change. */
import { appendFileSync, existsSync, readFileSync, truncateSync } from "node:fs";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";
import { openLmdbEngine } from "@anulo/store";
import type { WalletChange } from "../src/changes.ts";
import { type EventSink, Follower } from "../src/events/follower.ts";
import { type ChangeLog, createStore, openStore } from "../src/file/store.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import { openTold } from "./told-store.ts";

const settings = { seedLanguage: "", refreshFromHeight: 0 };

/** What a line of the log holds. */
export type Line = { readonly change: number; readonly events: readonly { type: string; height?: number }[] };

/** A log in a file: a line for each change. */
class FileLog implements EventSink {
  readonly #path: string;
  #cursor: number | undefined;

  constructor(path: string) {
    this.#path = path;
    // A line that was cut off is dropped: this process alone writes now.
    if (existsSync(path)) truncateSync(path, readFileSync(path).lastIndexOf("\n") + 1);
    this.#cursor = linesOf(path).at(-1)?.change;
  }

  async cursorOf(): Promise<number | undefined> {
    return this.#cursor;
  }

  async append({ change, events }: Parameters<EventSink["append"]>[0]): Promise<void> {
    if (change <= (this.#cursor ?? -1)) return;
    const text = JSON.stringify({ change, events }, (_, value) =>
      typeof value === "bigint" ? String(value) : value,
    );
    appendFileSync(this.#path, `${text}\n`);
    this.#cursor = change;
  }
}

/** The whole lines of a log. */
export function linesOf(path: string): Line[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  return whole
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** Where a wallet's ledger is. */
export type Kind = "journal" | "store";

/** Opens the wallet at a path, which is created where it is missing. */
export async function openWith(
  base: string,
  kind: Kind,
): Promise<{ ledger: Ledger; log: ChangeLog; follower: Follower; close: () => Promise<void> }> {
  const follower = new Follower({
    sink: new FileLog(`${base}.log`),
    wallet: "shop",
    random: (count) => new Uint8Array(count).fill(1),
    onFailure: (error) => {
      throw error;
    },
  });
  const engine = kind === "store" ? openLmdbEngine(`${base}.mdb`) : undefined;
  const opened =
    engine === undefined
      ? await openJournal(base, follower)
      : await openTold({ engine, wallet: new Uint8Array(16), folder: `${base}.keys` }, follower);
  const close = async () => {
    await follower.close();
    await opened.log.close();
    await engine?.close();
  };
  return { ...opened, follower, close };
}

async function openJournal(base: string, follower: Follower): Promise<{ ledger: Ledger; log: ChangeLog }> {
  const options = { path: `${base}.anulo`, secret: new Uint8Array(32).fill(1), network: "regtest" } as const;
  if (existsSync(options.path)) return await openStore(options, settings, follower);
  const ledger = createLedger("regtest", settings);
  await follower.begin(ledger);
  return { ledger, log: await createStore(options, ledger) };
}

/** A block that pays the wallet. */
function nextBlock({ state }: Ledger): WalletChange {
  const { height } = state;
  const id = new Uint8Array(32);
  new DataView(id.buffer).setUint32(0, height);
  const received = {
    outputIndex: 0,
    globalIndex: BigInt(height),
    amount: BigInt(height),
    mask: id,
    rct: true,
    oneTimeKey: id,
    txPublicKey: id,
    keyImage: id,
    subaddress: { major: 0, minor: 1 },
  };
  const transaction = {
    txHash: id,
    coinbase: false,
    height,
    timestamp: height,
    unlockTime: 0n,
    fee: 1n,
    publicAmountOut: 0n,
    txSize: 0,
    paymentId: new Uint8Array(32),
    received: [received],
    inputs: [],
  };
  return {
    kind: "blocks",
    fromHeight: height,
    count: 1,
    ids: [],
    lastBlockReward: 1n,
    transactions: [transaction],
  };
}

async function tellForever(base: string, kind: Kind): Promise<void> {
  const { ledger, log, follower } = await openWith(base, kind);
  const commit = async (change: WalletChange) => {
    const entry = follower.observe(change, () => applyChange(ledger, change));
    await log.append(change);
    follower.keep(entry);
  };
  const source = follower.newSource;
  if (source !== undefined) await commit({ kind: "eventSource", source });
  for (;;) await commit(nextBlock(ledger));
}

if (import.meta.url === pathToFileURL(argv[1] ?? "").href) await tellForever(argv[2]!, argv[3] as Kind);
