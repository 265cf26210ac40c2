import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type Exact, parseExact } from "@anulo/devnet";

const folder = new URL("../../fixtures/", import.meta.url);

function readFixture(path: string): string {
  return gunzipSync(readFileSync(new URL(path, folder))).toString("utf8");
}

/** One block to submit, hex, and the transactions to send before it, hex. */
export type RecordedBlock = { readonly blob: string; readonly txs: readonly string[] };

/** A wallet whose keys are public knowledge. Keys are 64 hex digits. */
export type RecordedWallet = {
  readonly mnemonic: string;
  readonly address: string;
  readonly view_key: string;
  readonly spend_key: string;
};

/** The chain on which the golden recordings were made, without its genesis block. */
export type RecordedState = {
  readonly height: number;
  readonly top_hash: string;
  readonly blocks: readonly RecordedBlock[];
  readonly block_hashes: readonly string[];
  readonly alt: readonly string[];
  readonly pool: readonly string[];
  readonly wallets: { readonly a: RecordedWallet; readonly b: RecordedWallet };
  readonly txs: { readonly [name: string]: { readonly hash: string; readonly key: string } };
  readonly key_images: { readonly a: readonly string[]; readonly b: readonly string[] };
  readonly balance: { readonly a: Exact; readonly b: Exact };
};

/** Releases of the original programs whose answers are recorded. */
export const recordedReleases = ["0.18.0", "0.18.5"] as const;

export type RecordedRelease = (typeof recordedReleases)[number];

const goldenFolders = { "0.18.0": "golden", "0.18.5": "golden-0.18.5" } as const;

/** The 108-block chain with side blocks and a pool under the golden recordings. */
export function loadGoldenState(release: RecordedRelease = "0.18.5"): RecordedState {
  return JSON.parse(readFixture(`${goldenFolders[release]}/state.json.gz`)) as RecordedState;
}

/** Text of one golden recording as exact JSON. */
export function loadGoldenText(group: string, release: RecordedRelease): Exact {
  return parseExact(readFixture(`${goldenFolders[release]}/${group}.json.gz`));
}

/** The 500-block chain: 402 payments, wallets alice and bob, 120 more valid transactions. */
export type RecordedChain = {
  readonly genesis: { readonly hash: string; readonly block: string };
  readonly blocks: readonly RecordedBlock[];
  readonly hashes: readonly string[];
  readonly poolTransactions: readonly { readonly hash: string; readonly hex: string }[];
  readonly wallets: { readonly alice: RecordedWallet; readonly bob: RecordedWallet };
};

type BlockLine = { height: number; hash: string; block: string; txs: string[] };

/** Reads the 500-block chain; `blocks` and `hashes` start at height 1. */
export function loadChain(): RecordedChain {
  const lines = readFixture("chain/blocks.jsonl.gz")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as BlockLine);
  const [genesis, ...rest] = lines;
  const meta = JSON.parse(readFixture("chain/meta.json.gz")) as Pick<RecordedChain, "wallets">;
  return {
    genesis: { hash: genesis!.hash, block: genesis!.block },
    blocks: rest.map(({ block, txs }) => ({ blob: block, txs })),
    hashes: rest.map(({ hash }) => hash),
    poolTransactions: JSON.parse(readFixture("chain/pool-txs.json.gz")),
    wallets: meta.wallets,
  };
}

/** What the programs of an earlier commit left on disk, and their output about it. */
export type EarlierFiles = {
  /** The node's data folder for regtest, and the folder of the wallets; both in the folder that was asked for. */
  readonly dataDir: string;
  readonly walletDir: string;
  readonly password: string;
  /** Addresses of the wallets. */
  readonly alice: string;
  readonly bob: string;
  readonly height: number;
  /** Id of the newest block, 64 hex digits. */
  readonly top: string;
  /** Ids of alice's two payments to bob. */
  readonly mined: string;
  readonly waiting: string;
  /** Atomic units, as decimal digits. */
  readonly aliceBalance: string;
  readonly aliceUnlocked: string;
  readonly bobBalance: string;
  readonly bobUnlocked: string;
};

/** Lays out the files that the programs of commit 15bd640 left, in an existing folder. */
export function layOutEarlierFiles(to: string): EarlierFiles {
  const from = new URL("upgrade-15bd640/", folder);
  const [dataDir, walletDir] = [join(to, "node"), join(to, "wallets")];
  mkdirSync(join(dataDir, "regtest"), { recursive: true });
  mkdirSync(walletDir, { recursive: true });
  const chain = brotliDecompressSync(readFileSync(new URL("chain.mdb.br", from)));
  writeFileSync(join(dataDir, "regtest/chain.mdb"), chain);
  for (const name of ["alice.keys", "alice.anulo", "bob.keys", "bob.anulo"])
    copyFileSync(new URL(name, from), join(walletDir, name));
  const facts = JSON.parse(readFileSync(new URL("facts.json", from), "utf8"));
  return { ...facts, dataDir, walletDir, password: "old" };
}
