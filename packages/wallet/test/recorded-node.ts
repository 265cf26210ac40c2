/** A node as far as a wallet asks it, over a recorded chain whose length the test chooses. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import {
  type Block,
  blockId,
  fromHex,
  genesisBlock,
  networks,
  prunableHash,
  readBlock,
  readTransaction,
  type Transaction,
  toHex,
  transactionHash,
  writeBlock,
  writePrunedTransaction,
} from "@anulo/protocol";
import { createRpcServer, daemon, implementFor } from "@anulo/rpc";

const fixtures = new URL("../../../testkit/fixtures/", import.meta.url);

type Release = "0.18.0" | "0.18.5";

function readFixture(name: string, release: Release = "0.18.0"): unknown {
  const folder = new URL(release === "0.18.0" ? "golden/" : "golden-0.18.5/", fixtures);
  return JSON.parse(gunzipSync(readFileSync(new URL(name, folder))).toString("utf8"));
}

type State = {
  readonly blocks: readonly { readonly blob: string; readonly txs: readonly string[] }[];
  readonly alt: readonly string[];
  readonly pool: readonly string[];
  readonly wallets: { readonly [name: string]: { readonly mnemonic: string; readonly address: string } };
};
export const recorded = readFixture("state.json.gz") as State;

/** The wallets with which a release was recorded, by name. */
export function recordedWallets(release: Release): State["wallets"] {
  return (readFixture("state.json.gz", release) as State).wallets;
}

type Step = {
  readonly id: string;
  readonly to: string;
  readonly request: { readonly body?: { readonly method?: string; readonly params?: unknown } };
  readonly answer: { readonly json?: unknown };
};
/** Steps of one recorded group; amounts of the chain fit a double exactly only as text, so compare formatted values. */
export function recordedSteps(group: string, release?: Release): readonly Step[] {
  return (readFixture(`${group}.json.gz`, release) as { steps: Step[] }).steps;
}

export type Entry = {
  readonly block: Block;
  readonly id: Uint8Array;
  readonly transactions: readonly Transaction[];
};

const entryOf = (block: Block, transactions: readonly Transaction[]): Entry => ({
  block,
  id: blockId(block),
  transactions,
});
const transactions = recorded.blocks.flatMap(({ txs }) => txs.map((hex) => readTransaction(fromHex(hex))));
const byId = new Map(transactions.map((transaction) => [toHex(transactionHash(transaction)), transaction]));

/** The whole chain, the genesis block first. */
export const recordedChain: readonly Entry[] = [
  entryOf(genesisBlock(networks.regtest), []),
  ...recorded.blocks.map(({ blob }) => {
    const block = readBlock(fromHex(blob));
    return entryOf(
      block,
      block.transactionHashes.map((hash) => byId.get(toHex(hash))!),
    );
  }),
];

/** Two empty blocks beside the newest ones of the chain. */
export const recordedSideBlocks: readonly Entry[] = recorded.alt.map((hex) =>
  entryOf(readBlock(fromHex(hex)), []),
);

/** The same transactions mined in other blocks from `height` on; `unlockTime`: of their rewards. */
export function forkedChain(height: number, unlockTime?: bigint): Entry[] {
  const chain = recordedChain.slice(0, height);
  for (const { block, transactions: txs } of recordedChain.slice(height)) {
    const header = { ...block.header, previousId: chain.at(-1)!.id, nonce: block.header.nonce + 1 };
    const { minerTransaction } = block;
    const prefix = { ...minerTransaction.prefix, ...(unlockTime !== undefined && { unlockTime }) };
    chain.push(entryOf({ ...block, header, minerTransaction: { ...minerTransaction, prefix } }, txs));
  }
  return chain;
}

/** The chain with one more block, of these transactions; its reward goes where the last one went. */
export function withBlock(chain: readonly Entry[], transactions: readonly Transaction[]): Entry[] {
  const { block, id: previousId } = chain.at(-1)!;
  const { minerTransaction, header } = block;
  const inputs = [{ type: "generation" as const, height: chain.length }];
  const prefix = { ...minerTransaction.prefix, inputs };
  const next: Block = {
    header: { ...header, previousId },
    minerTransaction: { ...minerTransaction, prefix },
    transactionHashes: transactions.map((tx) => transactionHash(tx)),
  };
  return [...chain, entryOf(next, transactions)];
}

/** What its pool holds at first. */
export const recordedPool = recorded.pool.map((hex) => readTransaction(fromHex(hex)));

/** Ids of the transactions of the pool by the wallets that have sent them; to those restored here, other copies. */
export const sentBy = {
  a: "b58ed0194f8d5026934116d6e352a1f41b20deccb5eb871d86e449d943e9be73",
  b: "61ce1dfd404be2b68f442e61a8bc6a2794821082352135208c41c50739ab228a",
} as const;

export type RecordedNode = {
  readonly url: string;
  /** What the node says its chain is; a test may put another in its place. */
  chain: readonly Entry[];
  /** What it answers in place of these blocks. */
  lie: (honest: BlocksAnswer) => BlocksAnswer;
  /** Transactions that wait in its pool. */
  pool: readonly Transaction[];
  /** Ids of its pool's transactions that others contradict. */
  contradicted: readonly string[];
  /** Ids of all transactions it was asked for, in order. */
  readonly asked: string[];
  readonly stop: () => Promise<void>;
};

export type BlocksAnswer = ReturnType<typeof answerBlocks>;
const honestly = (answer: BlocksAnswer): BlocksAnswer => answer;

const status = { status: "OK", untrusted: false } as const;
/** What the wallet does not look at. */
const noStats = {
  ...{ bytes_max: 0, bytes_med: 0, bytes_min: 0, bytes_total: 0, fee_total: 0n, histo: [], histo_98pc: 0 },
  ...{ num_10m: 0, num_failing: 0, num_not_relayed: 0, oldest: 0, txs_total: 0 },
};
const access = { ...status, credits: 0, top_hash: "" } as const;

/** Most blocks of one answer, low so that a scan takes several. */
const BLOCKS_PER_ANSWER = 40;

export async function startRecordedNode(): Promise<RecordedNode> {
  const node = {
    chain: recordedChain,
    pool: recordedPool as readonly Transaction[],
    lie: honestly,
    contradicted: [] as readonly string[],
    asked: [] as string[],
  };
  const implement = implementFor<undefined>();
  const blocks = pick(daemon.blocks, ["getBlocksBin", "getHeight"]);
  const pool = pick(daemon.pool, ["getTransactionPoolHashesBin", "getTransactionPoolStats"]);
  const transactionsByHash = pick(daemon.transactions, ["getTransactions"]);
  const server = await createRpcServer({
    listen: [{ host: "127.0.0.1", port: 0 }],
    context: () => undefined,
    calls: [
      ...implement(blocks, {
        getBlocksBin: ({ block_ids, start_height }) => ({
          ...node.lie(answerBlocks(node.chain, block_ids, start_height)),
          ...access,
        }),
        getHeight: () => ({ hash: toHex(node.chain.at(-1)!.id), height: node.chain.length, ...status }),
      }),
      ...implement(pool, {
        getTransactionPoolHashesBin: () => ({
          tx_hashes: node.pool.map((tx) => transactionHash(tx)),
          ...access,
        }),
        getTransactionPoolStats: () => ({
          pool_stats: { ...noStats, num_double_spends: node.contradicted.length },
          ...access,
        }),
      }),
      ...implement(transactionsByHash, {
        getTransactions: ({ txs_hashes }) => {
          node.asked.push(...txs_hashes);
          const asked = (tx: Transaction) => txs_hashes.includes(toHex(transactionHash(tx)));
          const mined = node.chain.flatMap((entry, height) =>
            entry.transactions.filter(asked).map((tx) => minedEntry(tx, { entry, height })),
          );
          const txs = [...mined, ...node.pool.filter(asked).map((tx) => poolEntry(tx, node))];
          return { txs, txs_as_hex: [], missed_tx: [], txs_as_json: [], ...access };
        },
      }),
    ],
  });
  return Object.assign(node, { url: server.urls[0]!, stop: () => server.stop(0) });
}

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>;
}

function answerBlocks(chain: readonly Entry[], ids: readonly Uint8Array[], startHeight: number) {
  const heights = new Map(chain.map(({ id }, height) => [toHex(id), height]));
  const shared = ids.map((id) => heights.get(toHex(id))).find((height) => height !== undefined) ?? 0;
  const start = startHeight > 0 ? startHeight : shared;
  const isNothingNew = ids.length > 0 && toHex(ids[0]!) === toHex(chain.at(-1)!.id);
  const entries = isNothingNew ? [] : chain.slice(start, start + BLOCKS_PER_ANSWER);
  let next = chain
    .slice(0, start)
    .flatMap(allTransactions)
    .reduce((sum, tx) => sum + ringOutputs(tx), 0);
  return {
    blocks: entries.map(({ block, transactions: txs }) => ({
      pruned: true,
      block: writeBlock(block),
      txs: txs.map((tx) => ({ blob: writePrunedTransaction(tx), prunable_hash: prunableHash(tx) })),
    })),
    current_height: chain.length,
    output_indices: entries.map((entry) => ({
      indices: allTransactions(entry).map((tx) => ({
        indices: tx.prefix.outputs.map(() => (ringOutputs(tx) === 0 ? 0 : next++)),
      })),
    })),
    start_height: isNothingNew ? 0 : start,
  };
}

function allTransactions({ block, transactions: txs }: Entry): Transaction[] {
  return [block.minerTransaction, ...txs];
}

/** Outputs that count among RingCT's: all but those of version 1. */
function ringOutputs({ prefix }: Transaction): number {
  return prefix.version === 1 ? 0 : prefix.outputs.length;
}

/** Global indices don't matter to what is tested with single transactions. */
function minedEntry(tx: Transaction, { entry, height }: { entry: Entry; height: number }) {
  return {
    ...poolEntry(tx, { contradicted: [] }),
    in_pool: false,
    block_height: height,
    block_timestamp: entry.block.header.timestamp,
    confirmations: 1,
    output_indices: tx.prefix.outputs.map(() => 0),
  };
}

function poolEntry(tx: Transaction, { contradicted }: Pick<RecordedNode, "contradicted">) {
  return {
    as_hex: "",
    as_json: "",
    double_spend_seen: contradicted.includes(toHex(transactionHash(tx))),
    in_pool: true,
    prunable_as_hex: "",
    prunable_hash: toHex(prunableHash(tx)),
    pruned_as_hex: toHex(writePrunedTransaction(tx)),
    tx_hash: toHex(transactionHash(tx)),
  };
}
