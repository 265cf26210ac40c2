import { commitZeroMask } from "@anulo/crypto";
import {
  type Block,
  blockId,
  hardForkAt,
  type NetworkName,
  networks,
  outputKey,
  type Transaction,
  toHex,
  transactionHash,
} from "@anulo/protocol";
import {
  type BlockFacts,
  type ChainOutput,
  type ChainView,
  createChainWindow,
  type TransactionCandidate,
  type VerifiedBlock,
} from "../src/index.ts";

/** A chain in memory: enough of a node's storage to judge blocks on. */
export interface MemoryChain {
  /** A snapshot of the tip; good until the next `append`. */
  view(): ChainView;
  append(block: Block, transactions: readonly TransactionCandidate[], verified: VerifiedBlock): void;
}

/** Starts empty: the genesis block is appended like any other. */
export function createMemoryChain(
  options: { network?: NetworkName; fixedDifficulty?: bigint } = {},
): MemoryChain {
  const network = networks[options.network ?? "regtest"];
  const window = createChainWindow<BlockFacts>(
    0,
    () => [],
    () => [],
  );
  const ids: Uint8Array[] = [];
  const transactions = new Set<string>();
  const spent = new Set<string>();
  const outputs: OutputsByAmount = new Map();
  let alreadyGenerated = 0n;
  let cumulativeDifficulty = 0n;

  return {
    view: () => {
      const height = window.height;
      return {
        height,
        topId: ids.at(-1) ?? new Uint8Array(32),
        hardForkVersion: hardForkAt(network, height),
        fixedDifficulty: options.fixedDifficulty,
        alreadyGenerated,
        cumulativeDifficulty,
        longTermWeightMedian: window.longTermWeightMedian,
        recentTimestamps: window.recentTimestamps,
        recentCumulativeDifficulties: window.recentCumulativeDifficulties,
        recentWeights: window.recentWeights,
        blockId: (at) => ids[at]!,
        hasTransaction: (id) => transactions.has(toHex(id)),
        isKeyImageSpent: (keyImage) => spent.has(toHex(keyImage)),
        outputCount: (amount) => BigInt(outputs.get(amount)?.length ?? 0),
        outputs: (amount, indices) => indices.map((index) => outputs.get(amount)?.[Number(index)]),
      };
    },
    append(block, candidates, verified) {
      addOutputs(outputs, block.minerTransaction, verified.height);
      transactions.add(toHex(transactionHash(block.minerTransaction)));
      for (const { transaction, id } of candidates) {
        addOutputs(outputs, transaction, verified.height);
        transactions.add(toHex(id));
        for (const input of transaction.prefix.inputs) {
          if (input.type === "key") spent.add(toHex(input.keyImage));
        }
      }
      ids.push(blockId(block));
      alreadyGenerated = verified.alreadyGenerated;
      cumulativeDifficulty = verified.cumulativeDifficulty;
      const { weight, longTermWeight } = verified;
      window.append({ timestamp: block.header.timestamp, cumulativeDifficulty, weight, longTermWeight });
    },
  };
}

type OutputsByAmount = Map<bigint, ChainOutput[]>;

/** Gives a transaction's outputs their global indices. */
function addOutputs(outputs: OutputsByAmount, { prefix, ringct }: Transaction, height: number): void {
  for (const [i, output] of prefix.outputs.entries()) {
    const isHidden = ringct !== undefined && ringct.type !== 0;
    const amount = prefix.version === 1 ? output.amount : 0n;
    const list = outputs.get(amount) ?? [];
    outputs.set(amount, list);
    const commitment = isHidden ? ringct.outputCommitments[i]! : commitZeroMask(output.amount);
    list.push({ key: outputKey(output)!, commitment, height, unlockTime: prefix.unlockTime });
  }
}
