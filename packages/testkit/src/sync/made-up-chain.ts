import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import {
  chainContext,
  fitMinerTransaction,
  KNOWN_GROUP_BLOCKS,
  verifyBlock,
  writeKnownBlocks,
} from "@anulo/consensus";
import { commitZeroMask } from "@anulo/crypto";
import { type ChainParts, createNode } from "@anulo/node";
import {
  type Block,
  blockId,
  readTransaction,
  type Transaction,
  transactionHash,
  writeBlock,
  writePrunedTransaction,
} from "@anulo/protocol";
import type { NewBlock, NewTransaction } from "@anulo/storage";
import { createMadeUpPayments, type MadeUpPayment, publicKeyOf } from "./made-up-payments.ts";

export interface MadeUpChainOptions {
  /** Where its database is made. */
  readonly databasePath: string;
  /** Blocks at least: whole groups of known blocks are made, for nobody would take those beyond the last one. */
  readonly blocks: number;
  /** Payments of a block, on average. */
  readonly payments: number;
  onProgress(height: number): void;
}

/** A chain that nobody would believe who did not know its blocks: all is right in it but its proofs. */
export interface MadeUpChain {
  readonly height: number;
  readonly payments: number;
  /** What a node needs to know to take it. */
  readonly knownBlocks: Uint8Array;
}

const BLOCK_SECONDS = 120;
const BLOCKS_PER_WRITE = 100;
/** Every block of the first ones pays for what comes later: nothing can be spent before. */
const FIRST_PAYMENTS = 100;
const NO_HASH = new Uint8Array(32);

/** Makes the chain on top of regtest's genesis, with ids, weights, rewards and times as the rules want them. */
export async function makeUpChain(options: MadeUpChainOptions): Promise<MadeUpChain> {
  const now = () => Math.floor(Date.now() / 1000);
  const node = createNode({
    network: "regtest",
    databasePath: options.databasePath,
    fixedDifficulty: 1n,
    offline: true,
    verifyThreads: 0,
    now,
  });
  await node.start();
  try {
    return await fill(node.chain, options);
  } finally {
    await node.stop();
  }
}

async function fill(
  parts: ChainParts,
  { blocks: blockCount, payments, onProgress }: MadeUpChainOptions,
): Promise<MadeUpChain> {
  const blocks = KNOWN_GROUP_BLOCKS * Math.ceil(blockCount / KNOWN_GROUP_BLOCKS);
  const { store, state } = parts;
  const makePayment = createMadeUpPayments();
  const start = parts.now() - BLOCK_SECONDS * (blocks + 10);
  let paymentCount = 0;
  for (let height = store.read.height(); height < blocks; ) {
    const end = Math.min(blocks, height + BLOCKS_PER_WRITE);
    store.write((writer) => {
      for (; height < end; height++) {
        const count = height < FIRST_PAYMENTS ? 0 : paymentsOf(height, payments);
        const paid = Array.from({ length: count }, (_, i) => makePayment(`${height} ${i}`));
        const block = blockOf(parts, { paid, timestamp: start + BLOCK_SECONDS * height });
        writer.appendBlock(block);
        state.addBlock(block);
        paymentCount += count;
      }
    });
    await store.flush();
    onProgress(height);
    await setImmediate();
  }
  const infos = store.read.blockInfos(0, blocks);
  const knownBlocks = writeKnownBlocks(
    infos.map(({ hash }) => hash),
    infos.map(({ weight }) => weight),
  );
  return { height: blocks, payments: paymentCount, knownBlocks };
}

/** Blocks come at random times: their payments are as unevenly spread, around the mean. */
function paymentsOf(height: number, mean: number): number {
  const lot = (createHash("sha256").update(`payments ${height}`).digest().readUInt32LE() + 0.5) / 2 ** 32;
  return Math.min(Math.round(-mean * Math.log(lot)), 5 * Math.ceil(mean));
}

interface BlockPlan {
  readonly paid: readonly MadeUpPayment[];
  /** Unix seconds. */
  readonly timestamp: number;
}

function blockOf(parts: ChainParts, { paid, timestamp }: BlockPlan): NewBlock {
  const chain = parts.state.view();
  const { height, hardForkVersion } = chain;
  const context = chainContext(chain, parts.now());
  const key = publicKeyOf(createHash("sha256").update(`miner ${height}`).digest());
  const minerTransaction = fitMinerTransaction((claim) => minerTransactionOf(height, key, claim), {
    transactionsWeight: paid.reduce((sum, { weight }) => sum + weight, 0),
    fees: paid.reduce((sum, { fee }) => sum + fee, 0n),
    economy: {
      medianWeight: context.limits.effectiveMedian,
      alreadyGenerated: chain.alreadyGenerated,
      hardForkVersion,
    },
  });
  const block: Block = {
    header: {
      majorVersion: hardForkVersion,
      minorVersion: hardForkVersion,
      timestamp,
      previousId: chain.topId,
      nonce: height,
    },
    minerTransaction,
    transactionHashes: paid.map(({ row }) => row.hash),
  };
  const id = blockId(block);
  const transactions = paid.map(({ row: { hash, pruned, prunable }, weight }) => ({
    transaction: readTransaction(Buffer.concat([pruned, prunable!])),
    id: hash,
    weight,
  }));
  const trustingContext = { ...context, chain: { ...chain, knownBlockId: () => id } };
  const verified = verifyBlock({ block, transactions }, trustingContext);
  return {
    hash: id,
    blob: writeBlock(block),
    timestamp,
    weight: verified.weight,
    longTermWeight: verified.longTermWeight,
    cumulativeDifficulty: verified.cumulativeDifficulty,
    alreadyGenerated: verified.alreadyGenerated,
    hardForkVersion,
    minorVersion: hardForkVersion,
    transactions: [minerRow(minerTransaction), ...paid.map(({ row }) => row)],
  };
}

function minerTransactionOf(height: number, key: Uint8Array, amount: bigint): Transaction {
  return {
    prefix: {
      version: 2,
      unlockTime: BigInt(height + 60),
      inputs: [{ type: "generation", height }],
      outputs: [{ amount, target: { type: "taggedKey", key, viewTag: key[0]! } }],
      extra: Uint8Array.from([1, ...key, 2, 4, 0, 0, 0, 0]),
    },
    signatures: [],
    ringct: { type: 0 },
  };
}

function minerRow(transaction: Transaction): NewTransaction {
  const [output] = transaction.prefix.outputs;
  if (output?.target.type !== "taggedKey") throw new Error("a miner has an output");
  return {
    hash: transactionHash(transaction),
    pruned: writePrunedTransaction(transaction),
    prunable: new Uint8Array(0),
    prunableHash: NO_HASH,
    unlockTime: transaction.prefix.unlockTime,
    outputs: [{ amount: 0n, key: output.target.key, commitment: commitZeroMask(output.amount) }],
    keyImages: [],
  };
}
