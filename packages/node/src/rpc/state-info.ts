import { adjustedTime, difficultyOfNextBlock, weightLimits } from "@anulo/consensus";
import { forkRules, toHex } from "@anulo/protocol";
import type { Dialect } from "@anulo/rpc";
import type { ChainParts } from "../chain/parts.ts";
import { isPublic } from "../pool/entry.ts";
import { cumulativeDifficultyFields, difficultyFields } from "./wide-number.ts";

/** The original version this program stands in for; upstream with the build mark of the Debian package. */
const VERSION = { contract: "0.18.5.3-anulo", upstream: "0.18.5.3-unknown" } as const;
/** A restricted port reports the size of the database in steps of 5 GiB. */
const SIZE_STEP = 5 * 1024 ** 3;
const UNKNOWN_SPACE = 2n ** 64n - 1n;

/** What is described, and to whom. */
interface Described {
  readonly parts: ChainParts;
  /** Unix seconds. */
  readonly startTime: number;
  readonly dialect: Dialect;
  /** True on a restricted port, which reports less. */
  readonly restricted: boolean;
}

/** Fields about the chain. */
function chainInfo({ parts }: Described) {
  const { network, store, pool } = parts;
  const view = parts.state.view();
  const limits = weightLimits(view);
  const top = store.read.blockInfo(view.height - 1)!;
  return {
    adjusted_time: adjustedTime(view, parts.now()),
    block_size_limit: limits.blockLimit,
    block_size_median: limits.effectiveMedian,
    block_weight_limit: limits.blockLimit,
    block_weight_median: limits.effectiveMedian,
    ...cumulativeDifficultyFields(view.cumulativeDifficulty),
    ...difficultyFields(difficultyOfNextBlock(view)),
    height: view.height,
    mainnet: network.name === "mainnet",
    nettype: network.rpcName,
    stagenet: network.name === "stagenet",
    target: forkRules(view.hardForkVersion).secondsPerBlock,
    testnet: network.name === "testnet",
    top_block_hash: toHex(view.topId),
    tx_count: top.firstTransactionId + top.transactionCount - view.height,
    tx_pool_size: pool.size,
  };
}

/** Fields of the unrestricted port alone. */
function privateInfo({ parts, startTime, restricted, dialect }: Described) {
  const { store, pool } = parts;
  const size = store.fileSize();
  if (restricted) {
    return {
      alt_blocks_count: 0,
      database_size: Math.ceil(size / SIZE_STEP) * SIZE_STEP,
      free_space: UNKNOWN_SPACE,
      height_without_bootstrap: 0,
      start_time: 0,
      tx_pool_size: pool.entries().filter(({ row }) => isPublic(row)).length,
      version: "",
    };
  }
  return {
    alt_blocks_count: parts.sideBlocks.count,
    database_size: size,
    free_space: store.freeSpace(),
    height_without_bootstrap: store.read.height(),
    start_time: startTime,
    version: VERSION[dialect],
  };
}

/** What `get_info` returns about the chain and the pool. */
export const describeState = (described: Described): StateInfo => ({
  ...chainInfo(described),
  ...privateInfo(described),
});

export type StateInfo = ReturnType<typeof chainInfo> & ReturnType<typeof privateInfo>;
