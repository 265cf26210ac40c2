import {
  commitZeroMask,
  deriveSecretKey,
  generateKeyDerivation,
  publicKeyOf,
  randomScalar,
  scFromUint64,
} from "@anulo/crypto";
import {
  type Block,
  formatAddress,
  outputKey,
  parseExtra,
  type Transaction,
  toHex,
  txPublicKey,
} from "@anulo/protocol";
import { seededRandom } from "./scalars.ts";

/** An output as rings refer to it; `listed` is its visible amount, 0 where it is hidden. */
export type Listed = {
  readonly key: Uint8Array;
  readonly commitment: Uint8Array;
  readonly height: number;
  readonly isMined: boolean;
};

/** An output whose secrets we know. */
export type Coin = Listed & {
  readonly listed: bigint;
  readonly globalIndex: bigint;
  readonly amount: bigint;
  readonly secretKey: Uint8Array;
  readonly mask: Uint8Array;
};

/** Secrets of an output that will be ours once it is in a block. */
export type Secret = { readonly secretKey: Uint8Array; readonly mask: Uint8Array; readonly amount: bigint };

/** All outputs of a chain, and which of them are ours. */
export type Ledger = {
  /** Where miners pay to us. */
  readonly address: string;
  readonly outputs: ReadonlyMap<bigint, readonly Listed[]>;
  readonly coins: readonly Coin[];
  addBlock(block: Block, transactions: readonly Transaction[], height: number): void;
  expect(key: Uint8Array, secret: Secret): void;
  take(coin: Coin): void;
};

const noMask = scFromUint64(1n);

/** A ledger of a chain without blocks; its keys follow from the seed. */
export function createLedger(seed: string): Ledger {
  const random = seededRandom(`${seed} keys`);
  const [spendSecret, viewSecret] = [randomScalar(random), randomScalar(random)];
  const spendPublic = publicKeyOf(spendSecret);
  const outputs = new Map<bigint, Listed[]>();
  const coins: Coin[] = [];
  const expected = new Map<string, Secret>();
  const add = (listed: bigint, output: Listed, secret: Secret | undefined) => {
    const list = outputs.get(listed) ?? [];
    outputs.set(listed, list);
    const globalIndex = BigInt(list.length);
    list.push(output);
    if (secret !== undefined) coins.push({ ...output, ...secret, listed, globalIndex });
  };
  const minedSecrets = (transaction: Transaction): (Secret | undefined)[] => {
    const publicKey = txPublicKey(parseExtra(transaction.prefix.extra));
    const derivation = publicKey && generateKeyDerivation(publicKey, viewSecret);
    return transaction.prefix.outputs.map((output, i) => {
      if (derivation === undefined) return undefined;
      const secretKey = deriveSecretKey(derivation, i, spendSecret);
      const isOurs = toHex(publicKeyOf(secretKey)) === toHex(outputKey(output)!);
      return isOurs ? { secretKey, mask: noMask, amount: output.amount } : undefined;
    });
  };
  const addTransaction = (transaction: Transaction, height: number, isMined: boolean) => {
    const { prefix, ringct } = transaction;
    const mined = isMined ? minedSecrets(transaction) : [];
    for (const [i, output] of prefix.outputs.entries()) {
      const key = outputKey(output)!;
      const isHidden = ringct !== undefined && ringct.type !== 0;
      const commitment = isHidden ? ringct.outputCommitments[i]! : commitZeroMask(output.amount);
      const secret = isMined ? mined[i] : expected.get(toHex(key));
      add(prefix.version === 1 ? output.amount : 0n, { key, commitment, height, isMined }, secret);
    }
  };
  return {
    address: formatAddress(
      { kind: "standard", spendPublic, viewPublic: publicKeyOf(viewSecret) },
      "stagenet",
    ),
    outputs,
    coins,
    addBlock: (block, transactions, height) => {
      addTransaction(block.minerTransaction, height, true);
      for (const transaction of transactions) addTransaction(transaction, height, false);
    },
    expect: (key, secret) => {
      expected.set(toHex(key), secret);
    },
    take: (coin) => {
      coins.splice(coins.indexOf(coin), 1);
    },
  };
}

/** Whether an output may be used in a transaction of the block of this height, under the rules of any era. */
export function isOldEnough({ height, isMined }: Listed, at: number): boolean {
  return at - height >= (isMined ? 62 : 12);
}

/** Our coins that may be spent in the block of this height. */
export function spendable(ledger: Ledger, at: number): Coin[] {
  return ledger.coins.filter((coin) => isOldEnough(coin, at));
}

/** Global indices of a ring around a coin, ascending: the oldest outputs of the coin's kind, spread evenly. */
export function ringOf(ledger: Ledger, coin: Coin, { size, at }: { size: number; at: number }): bigint[] {
  const others = (ledger.outputs.get(coin.listed) ?? [])
    .map((output, i) => ({ output, index: BigInt(i) }))
    .filter(({ output, index }) => index !== coin.globalIndex && isOldEnough(output, at));
  if (others.length < size - 1) throw new RangeError(`no ring of ${size} for ${coin.listed}`);
  const step = size > 1 ? others.length / (size - 1) : 1;
  const chosen = Array.from({ length: size - 1 }, (_, i) => others[Math.floor(i * step)]!.index);
  return [...chosen, coin.globalIndex].sort((a, b) => (a < b ? -1 : 1));
}
