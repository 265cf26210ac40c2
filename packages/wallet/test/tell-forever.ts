/** A wallet's store that grows until its process is killed, with a log beside it that is told what each change means. */
import { appendFileSync, existsSync, readFileSync, truncateSync } from "node:fs";
import { argv } from "node:process";
import { pathToFileURL } from "node:url";
import type { WalletChange } from "../src/changes.ts";
import { type EventSink, Follower } from "../src/events/follower.ts";
import { type ChangeLog, createStore, openStore } from "../src/file/store.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";

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

export async function openTold(
  base: string,
): Promise<{ ledger: Ledger; log: ChangeLog; follower: Follower }> {
  const follower = new Follower({
    sink: new FileLog(`${base}.log`),
    wallet: "shop",
    random: (count) => new Uint8Array(count).fill(1),
    onFailure: (error) => {
      throw error;
    },
  });
  const options = { path: `${base}.anulo`, secret: new Uint8Array(32).fill(1), network: "regtest" } as const;
  if (existsSync(options.path)) return { ...(await openStore(options, settings, follower)), follower };
  const ledger = createLedger("regtest", settings);
  await follower.begin(ledger);
  return { ledger, log: await createStore(options, ledger), follower };
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

async function tellForever(base: string): Promise<void> {
  const { ledger, log, follower } = await openTold(base);
  const commit = async (change: WalletChange) => {
    const entry = follower.observe(change, () => applyChange(ledger, change));
    await log.append(change);
    follower.keep(entry);
  };
  const source = follower.newSource;
  if (source !== undefined) await commit({ kind: "eventSource", source });
  for (;;) await commit(nextBlock(ledger));
}

if (import.meta.url === pathToFileURL(argv[1] ?? "").href) await tellForever(argv[2]!);
