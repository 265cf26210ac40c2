import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** A block and the transactions it names, as hex. */
export type RecordedBlock = { id: string; block: string; transactions: string[] };
type BenchChain = { blocks: RecordedBlock[] };
type Described = { hex: string; json: string; pruned?: boolean };
type RecordedChain = BenchChain & {
  sideBlocks: string[];
  pool: string[];
  /** What the real program's RPC answered for some of them. */
  describedTransactions: Described[];
  describedBlocks: Described[];
};

function readFixture<T>(name: string): T {
  const file = new URL(`../../test/fixtures/${name}.json.gz`, import.meta.url);
  return JSON.parse(gunzipSync(readFileSync(file)).toString()) as T;
}

/** A regtest chain made by running the real programs; all kinds of transactions their wallets make. */
export const recordedChain = readFixture<RecordedChain>("recorded-chain");
/** Blocks of a longer regtest chain: 1 and 2 inputs, 2 and 16 outputs, 22 inputs. */
export const benchChainSample = readFixture<BenchChain>("bench-chain-sample");

export const recordedBlocks: readonly RecordedBlock[] = [...benchChainSample.blocks, ...recordedChain.blocks];
export const recordedTransactions: readonly string[] = [
  ...recordedBlocks.flatMap(({ transactions }) => transactions),
  ...recordedChain.pool,
];

/** A real transaction or block of an era, and what is known of it. */
export type EraVector = { name: string; kind: "tx" | "block"; hex: string; expect: Record<string, unknown> };

/** Mainnet data that is not ours to copy: beside the project or nowhere. */
export function eraVectors(): EraVector[] | undefined {
  const places = ["../../../../../shared/vectors/eras.json", "../../../../../../shared/vectors/eras.json"];
  const file = places.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
  return file === undefined ? undefined : (JSON.parse(readFileSync(file, "utf8")) as EraVector[]);
}
