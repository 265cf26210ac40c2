import {
  type ChainView,
  chooseTransactions,
  difficultyOfNextBlock,
  fitMinerTransaction,
  nextSeedHeight,
  seedHeight,
  type TemplateEconomy,
  templateTimestamp,
  weightLimits,
} from "@anulo/consensus";
import type { RandomSource } from "@anulo/crypto";
import {
  type Block,
  equalBytes,
  minimumFullRewardWeight,
  type Network,
  readBlock,
  toHex,
} from "@anulo/protocol";
import type { PoolTransaction } from "@anulo/storage";
import { type BranchBlocks, branchView, findBranch } from "../chain/branch.ts";
import type { ChainParts } from "../chain/parts.ts";
import { isPublic } from "../pool/entry.ts";
import { type MinerKeys, minerTransactionBuilder } from "./miner-transaction.ts";
import { createReadiness } from "./readiness.ts";

/** The parameters of a template. */
export interface TemplateOrder {
  readonly keys: MinerKeys;
  /** Bytes for the miner's own use, at most 255. */
  readonly extraNonce: Uint8Array;
  /** Id (32 bytes) of the block to build on; the top when left out. */
  readonly previousId?: Uint8Array | undefined;
  readonly random?: RandomSource | undefined;
}

/** A block to mine on. */
export interface BlockTemplate {
  readonly block: Block;
  readonly height: number;
  readonly difficulty: bigint;
  /** Atomic units, as chosen before the miner transaction's weight is known. */
  readonly expectedReward: bigint;
  readonly seedHeight: number;
  /** 32 bytes. */
  readonly seedId: Uint8Array;
  /** Id (32 bytes) of the seed after the next change; equal to `seedId` if no change is near. */
  readonly nextSeedId: Uint8Array;
}

/** No template can be made with these parameters. */
export class NoTemplate extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "NoTemplate";
  }
}

/** The base of a template: the view that its header must fit and the reward data for its miner. */
interface TemplateBase {
  readonly view: ChainView;
  readonly economy: TemplateEconomy;
  /** Transactions (ids in hexadecimal) that blocks below contain, beside the main chain. */
  readonly excludedIds: ReadonlySet<string>;
}

/**
 * A block publishes its transactions: none goes into a block before it is public, so that the block does not reveal who
 * had it early. Source: tx_pool.cpp `fill_block_template`.
 */
function isMinable(row: PoolTransaction, { name }: Network): boolean {
  return row.doNotRelay || isPublic(row) || name === "regtest";
}

/**
 * Makes one synchronous attempt to build a template from the pool; throws OpenProofs while proofs of pool transactions
 * are unchecked, and NoTemplate. Source: blockchain.cpp `create_block_template`.
 */
export function createTemplate(parts: ChainParts, order: TemplateOrder): BlockTemplate {
  const main = parts.state.view();
  const { view, economy, excludedIds } = templateBaseOf(parts, order.previousId ?? main.topId);
  const readiness = createReadiness(parts, main);
  const waiting = parts.pool
    .byFeeRate()
    .filter(({ row }) => isMinable(row, parts.network))
    .map(({ row: { weight, fee, receiveTime }, key }) => ({ weight, fee, receivedAt: receiveTime, key }));
  const isReady = ({ key }: { key: string }) => !excludedIds.has(key) && readiness.isReady(key);
  const choice = chooseTransactions(waiting, economy, isReady);
  readiness.finish();
  const build = minerTransactionBuilder({
    ...order,
    height: view.height,
    hardForkVersion: view.hardForkVersion,
  });
  const fit = { transactionsWeight: choice.weight, fees: choice.fees, economy };
  const block: Block = {
    header: {
      majorVersion: view.hardForkVersion,
      minorVersion: parts.network.hardForks.at(-1)!.version,
      timestamp: templateTimestamp(main, parts.now()),
      previousId: view.topId,
      nonce: 0,
    },
    minerTransaction: fitMinerTransaction(build, fit),
    transactionHashes: choice.transactions.map(({ key }) => parts.pool.get(key)!.id),
  };
  return {
    block,
    height: view.height,
    difficulty: difficultyOfNextBlock(view),
    expectedReward: choice.expectedReward,
    ...seeds(view),
  };
}

function seeds(view: ChainView) {
  const at = seedHeight(view.height, view.seedSchedule);
  const next = nextSeedHeight(view.height, view.seedSchedule);
  const seedId = view.blockId(at);
  return { seedHeight: at, seedId, nextSeedId: next < view.height ? view.blockId(next) : seedId };
}

function templateBaseOf(parts: ChainParts, previousId: Uint8Array): TemplateBase {
  const main = parts.state.view();
  if (equalBytes(previousId, main.topId)) {
    const medianWeight = weightLimits(main).blockLimit / 2;
    return { view: main, economy: economyOf(main, medianWeight), excludedIds: new Set() };
  }
  const branch = findBranch(parts.store.read, previousId);
  if (branch === undefined) throw new NoTemplate("the block to build on is not known");
  const { fixedDifficulty, seedSchedule, checkpoints } = main;
  const { view } = branchView(
    { ...parts, read: parts.store.read, fixedDifficulty, seedSchedule, checkpoints, now: parts.now() },
    branch,
  );
  const medianWeight = Math.max(
    weightToBuildOn(parts, branch),
    minimumFullRewardWeight(view.hardForkVersion),
  );
  const branchIds = branch.blocks.flatMap(({ blob }) => readBlock(blob).transactionHashes);
  return { view, economy: economyOf(view, medianWeight), excludedIds: new Set(branchIds.map(toHex)) };
}

function economyOf({ alreadyGenerated, hardForkVersion }: ChainView, medianWeight: number): TemplateEconomy {
  return { medianWeight, alreadyGenerated, hardForkVersion };
}

/** Off the main chain the median is not known: the weight of the block below is certainly acceptable. */
function weightToBuildOn({ store }: ChainParts, { forkHeight, blocks }: BranchBlocks): number {
  const top = blocks.at(-1);
  if (top === undefined) return store.read.blockInfo(forkHeight)?.weight ?? 0;
  return top.weight - Math.floor(top.weight / 20);
}
