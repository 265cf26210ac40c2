import {
  commit,
  commitZeroMask,
  keccak256,
  keyImageOf,
  proveBulletproofPlus,
  publicKeyOf,
  type RandomSource,
  randomScalar,
  scAdd,
  scFromUint64,
  scSub,
  signClsag,
} from "@anulo/crypto";
import {
  type Block,
  blockReward,
  type ConfidentialRingCt,
  compareBytes,
  equalBytes,
  genesisBlock,
  networks,
  ringCtMessage,
  type Transaction,
  type TransactionPrefix,
  type TxOutput,
  transactionHash,
  transactionWeight,
} from "@anulo/protocol";
import {
  type ChainContext,
  type ChainView,
  chainContext,
  feeOf,
  type TransactionCandidate,
  verifyBlock,
} from "../src/index.ts";
import { createMemoryChain } from "./memory-chain.ts";

/** An output whose secrets we know. */
export interface Coin {
  secretKey: Uint8Array;
  mask: Uint8Array;
  key: Uint8Array;
  commitment: Uint8Array;
  amount: bigint;
  globalIndex: bigint;
  height: number;
}

/** What to spend and how; `edit…` change a transaction before it is signed, so that its proofs still hold. */
export interface SpendPlan {
  inputs: { coin: Coin; members?: bigint[] }[];
  /** Amounts (atomic units) of all outputs but the last, which takes the rest; one of 0 by default. */
  amounts?: bigint[];
  fee?: bigint;
  /** Key images ascend instead of descending. */
  isUnsorted?: boolean;
  extra?: Uint8Array;
  editPrefix?: (prefix: TransactionPrefix) => void;
  editRingCt?: (ringct: ConfidentialRingCt) => void;
}

export interface Forge {
  view(): ChainView;
  context(): ChainContext;
  /** A block that keeps the rules on top of the chain. */
  block(transactions?: readonly TransactionCandidate[]): Block;
  /** Appends a block; its reward becomes a coin. */
  append(block: Block, transactions?: readonly TransactionCandidate[]): Coin;
  spend(plan: SpendPlan): Transaction;
  /** Sixteen global indices, the coin's among them: the oldest and the coin's neighbours. */
  ringOf(coin: Coin, size?: number): bigint[];
  random: RandomSource;
}

export const DEFAULT_FEE = 5_000_000_000n;
const FIRST_TIMESTAMP = 1_600_000_000;
const EXTRA = new Uint8Array([1, ...publicKeyOf(scFromUint64(7n))]);

export function candidate(transaction: Transaction): TransactionCandidate {
  return { transaction, id: transactionHash(transaction), weight: transactionWeight(transaction) };
}

export function tagged(key: Uint8Array, amount = 0n): TxOutput {
  return { amount, target: { type: "taggedKey", key, viewTag: 7 } };
}

/** A regtest chain of our own, the same for the same seed. */
export function createForge(seed: string): Forge {
  const random = seededRandom(seed);
  const chain = createMemoryChain({ fixedDifficulty: 1n });
  let view = chain.view();

  const secretAt = (height: number) => randomScalar(seededRandom(`${seed} miner ${height}`));
  const timeAt = (height: number) => FIRST_TIMESTAMP + 120 * height;
  const context = () => chainContext(view, timeAt(view.height));

  const block = (transactions: readonly TransactionCandidate[] = []): Block => {
    const fees = transactions.reduce((sum, transaction) => sum + feeOf(transaction), 0n);
    const key = publicKeyOf(secretAt(view.height));
    const header = { majorVersion: 16, minorVersion: 16, timestamp: timeAt(view.height), nonce: 0 };
    return {
      header: { ...header, previousId: view.topId },
      minerTransaction: minerTransaction(view, fees, key),
      transactionHashes: transactions.map(({ id }) => id),
    };
  };

  const append = (next: Block, transactions: readonly TransactionCandidate[] = []): Coin => {
    const height = view.height;
    const verified = verifyBlock({ block: next, transactions }, context());
    const globalIndex = view.outputCount(0n);
    chain.append(next, transactions, verified);
    view = chain.view();
    const { amount } = next.minerTransaction.prefix.outputs[0]!;
    const secretKey = secretAt(height);
    const commitment = commitZeroMask(amount);
    const mask = scFromUint64(1n);
    return { secretKey, mask, key: publicKeyOf(secretKey), commitment, amount, globalIndex, height };
  };

  const ringOf = (coin: Coin, size = 16): bigint[] => {
    const members = new Set([coin.globalIndex]);
    for (let index = 0n; members.size < size; index++) members.add(index);
    return [...members].sort((a, b) => Number(a - b));
  };

  const spend = (plan: SpendPlan): Transaction => sign(plan, { view, random, ringOf });

  append(genesisBlock(networks.regtest));
  return { view: () => view, context, block, append, spend, ringOf, random };
}

/** Claims the reward of a block that is not heavy. */
function minerTransaction(
  { height, alreadyGenerated }: ChainView,
  fees: bigint,
  key: Uint8Array,
): Transaction {
  const reward = blockReward({ medianWeight: 300_000, weight: 0, alreadyGenerated, version: 16 })!;
  const prefix: TransactionPrefix = {
    version: 2,
    unlockTime: BigInt(height + 60),
    inputs: [{ type: "generation", height }],
    outputs: [tagged(key, reward + fees)],
    extra: EXTRA,
  };
  return { prefix, signatures: [], ringct: { type: 0 } };
}

interface Workshop {
  view: ChainView;
  random: RandomSource;
  ringOf: Forge["ringOf"];
}

function sign(plan: SpendPlan, { view, random, ringOf }: Workshop): Transaction {
  const fee = plan.fee ?? DEFAULT_FEE;
  const spent = plan.inputs.reduce((sum, { coin }) => sum + coin.amount, 0n);
  const fixed = plan.amounts ?? [0n];
  const amounts = [...fixed, spent - fee - fixed.reduce((sum, amount) => sum + amount, 0n)];
  const direction = plan.isUnsorted ? 1 : -1;
  const inputs = plan.inputs
    .map(({ coin, members }) => ({
      coin,
      members: members ?? ringOf(coin),
      keyImage: keyImageOf(coin.key, coin.secretKey),
    }))
    .sort((a, b) => direction * compareBytes(a.keyImage, b.keyImage));

  const masks = amounts.map(() => randomScalar(random));
  const { proof, commitments } = proveBulletproofPlus(amounts, masks, random);
  const pseudoMasks = inputs.map(() => randomScalar(random));
  const others = pseudoMasks.slice(1).reduce(scAdd, scFromUint64(0n));
  pseudoMasks[0] = scSub(masks.reduce(scAdd, scFromUint64(0n)), others);

  const prefix: TransactionPrefix = {
    version: 2,
    unlockTime: 0n,
    inputs: inputs.map(({ members, keyImage }) => ({
      type: "key",
      amount: 0n,
      keyOffsets: offsetsOf(members),
      keyImage,
    })),
    outputs: amounts.map(() => tagged(publicKeyOf(randomScalar(random)))),
    extra: plan.extra ?? EXTRA,
  };
  const ringct: ConfidentialRingCt = {
    type: 6,
    fee,
    pseudoOuts: inputs.map(({ coin }, i) => commit(pseudoMasks[i]!, coin.amount)),
    ecdhInfo: amounts.map(() => ({ amount: random(8) })),
    outputCommitments: commitments,
    prunable: {
      rangeSigs: [],
      bulletproofs: [],
      bulletproofsPlus: [proof],
      clsags: inputs.map(({ members }) => blankClsag(members.length)),
      mgs: [],
    },
  };
  plan.editPrefix?.(prefix);
  plan.editRingCt?.(ringct);
  const transaction: Transaction = { prefix, signatures: [], ringct };
  const message = ringCtMessage(transaction);
  ringct.prunable!.clsags = inputs.map(({ coin, members }, i) => {
    const ring = view.outputs(0n, members).map((output) => output ?? coin);
    const realIndex = ring.findIndex(({ key }) => equalBytes(key, coin.key));
    const secretMask = scSub(coin.mask, pseudoMasks[i]!);
    const { secretKey } = coin;
    const pseudoOut = commit(pseudoMasks[i]!, coin.amount);
    return signClsag({ message, ring, pseudoOut, secretKey, secretMask, realIndex, random }).proof;
  });
  return transaction;
}

/** Relative offsets of any list of indices, wrapping around 2^64 where it does not ascend. */
export function offsetsOf(members: readonly bigint[]): bigint[] {
  return members.map((member, i) => BigInt.asUintN(64, member - (members[i - 1] ?? 0n)));
}

function blankClsag(size: number) {
  const zero = new Uint8Array(32);
  return { s: Array.from({ length: size }, () => zero), c1: zero, D: zero };
}

/** Bytes that are the same for the same seed. */
export function seededRandom(seed: string): RandomSource {
  let counter = 0;
  return (size) => {
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size; at += 32) {
      const part = keccak256(new TextEncoder().encode(`${seed} ${counter++}`));
      bytes.set(part.subarray(0, Math.min(32, size - at)), at);
    }
    return bytes;
  };
}
