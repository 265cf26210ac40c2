import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { fromHex } from "@anulo/protocol";

const fixtures = new URL("../../../testkit/fixtures/", import.meta.url);

function readText(path: string): string {
  return gunzipSync(readFileSync(new URL(path, fixtures))).toString("utf8");
}

/** A block to submit and the transactions to send before it. */
export interface RecordedBlock {
  readonly blob: Uint8Array;
  readonly transactions: readonly Uint8Array[];
  /** Hexadecimal. */
  readonly hash: string;
}

/** The 500 blocks of the recorded regtest chain, from height 1. */
export function recordedChain(): RecordedBlock[] {
  const lines = readText("chain/blocks.jsonl.gz").trimEnd().split("\n").slice(1);
  return lines.map((line) => {
    const { block, txs, hash } = JSON.parse(line) as { block: string; txs: string[]; hash: string };
    return { blob: fromHex(block), transactions: txs.map((tx) => fromHex(tx)), hash };
  });
}

/** What monerod says of a block of the recorded regtest chain. */
export interface RecordedHeader {
  readonly height: number;
  readonly hash: string;
  readonly block_weight: number;
  readonly long_term_weight: number;
  readonly reward: number;
  readonly cumulative_difficulty: number;
  readonly num_txes: number;
}

/** Headers of the recorded regtest chain from genesis on. */
export function recordedHeaders(): RecordedHeader[] {
  const lines = readText("chain/headers.jsonl.gz").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as RecordedHeader);
}

/** Transactions (bytes) that fit on top of the recorded regtest chain. */
export function recordedPool(): Uint8Array[] {
  const list = JSON.parse(readText("chain/pool-txs.json.gz")) as { hex: string }[];
  return list.map(({ hex }) => fromHex(hex));
}

interface State {
  readonly blocks: readonly { blob: string; txs: string[] }[];
  readonly block_hashes: readonly string[];
  readonly alt: readonly string[];
  readonly pool: readonly string[];
  readonly top_hash: string;
  readonly wallets: { readonly a: { readonly address: string }; readonly b: { readonly address: string } };
}

/** The chain under the golden recordings, with its side blocks and pool. */
export function goldenState() {
  const state = JSON.parse(readText("golden-0.18.5/state.json.gz")) as State;
  const blocks = state.blocks.map(({ blob, txs }, i) => ({
    blob: fromHex(blob),
    transactions: txs.map((tx) => fromHex(tx)),
    hash: state.block_hashes[i]!,
  }));
  const bytes = (texts: readonly string[]) => texts.map((text) => fromHex(text));
  return {
    blocks,
    alternatives: bytes(state.alt),
    pool: bytes(state.pool),
    top: state.top_hash,
    wallets: state.wallets,
  };
}
