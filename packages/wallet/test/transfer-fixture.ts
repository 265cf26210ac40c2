/** A small world for transfers: wallets with outputs, and a chain of strangers' outputs to hide among. */

import { createHash } from "node:crypto";
import {
  commit,
  generateKeyDerivation,
  keyImageOf,
  publicKeyOf,
  type RandomSource,
  scalarMult,
  subaddressKeys,
} from "@anulo/crypto";
import { createKeys } from "../src/keys/wallet-keys.ts";
import type { OwnedOutput, SubaddressIndex } from "../src/outputs/owned-output.ts";
import { oneTimeSecret } from "../src/scan/scan-transaction.ts";
import type { SpendKeys, WalletKeys } from "../src/state.ts";
import type { NodeOutput, OutputSource } from "../src/transfer/rings.ts";
import type { Destination, Receiver, Ring } from "../src/transfer/stages.ts";
import { RING_SIZE } from "../src/transfer/stages.ts";

/** Repeatable bytes: SHA-256 of a seed and a counter. */
export function seededRandom(seed: string): RandomSource {
  let counter = 0;
  return (size) => {
    const parts: Buffer[] = [];
    for (let have = 0; have < size; have += 32) {
      parts.push(createHash("sha256").update(`${seed} ${counter++}`).digest());
    }
    return new Uint8Array(Buffer.concat(parts).subarray(0, size));
  };
}

export const PRIMARY: SubaddressIndex = { major: 0, minor: 0 };

export function receiverOf(keys: WalletKeys, { major, minor } = PRIMARY): Receiver {
  if (major === 0 && minor === 0) return { ...keys, isSubaddress: false };
  return { ...subaddressKeys(keys, major, minor), isSubaddress: true };
}

export function destinationOf(
  keys: WalletKeys,
  amount: bigint,
  index = PRIMARY,
  paymentId?: Uint8Array,
): Destination {
  const { spendPublic, viewPublic, isSubaddress } = receiverOf(keys, index);
  return { address: "an address", spendPublic, viewPublic, isSubaddress, paymentId, amount };
}

export type OutputRecipe = {
  amount: bigint;
  globalIndex: number;
  height?: number;
  subaddress?: SubaddressIndex;
};

/** An output as if received: the keys are real, the transaction is not. */
export function receive(keys: SpendKeys, recipe: OutputRecipe, random: RandomSource): OwnedOutput {
  const { amount, globalIndex, height = globalIndex, subaddress = PRIMARY } = recipe;
  const { spendPublic } = receiverOf(keys, subaddress);
  const txSecret = createKeys(random).spendSecret;
  const isPrimary = subaddress.major === 0 && subaddress.minor === 0;
  const txPublicKey = isPrimary ? publicKeyOf(txSecret) : scalarMult(txSecret, spendPublic);
  const derivation = generateKeyDerivation(txPublicKey, keys.viewSecret);
  const secret = oneTimeSecret(keys, { derivation, outputIndex: 0, subaddress });
  const oneTimeKey = publicKeyOf(secret);
  return {
    txHash: random(32),
    outputIndex: 0,
    globalIndex: BigInt(globalIndex),
    amount,
    rct: true,
    oneTimeKey,
    mask: createKeys(random).spendSecret,
    txPublicKey,
    keyImage: keyImageOf(oneTimeKey, secret),
    subaddress,
    height,
    timestamp: 0,
    unlockTime: 0n,
    coinbase: false,
    txSize: 0,
    frozen: false,
    spentHeight: undefined,
    pendingSpend: undefined,
    replaces: undefined,
  };
}

/** A chain in which every block has `perBlock` outputs; `owned` are among them. */
export function createChain(blocks: number, perBlock: number, owned: readonly OwnedOutput[]): OutputSource {
  const random = seededRandom("strangers");
  const strangers = Array.from({ length: 64 }, (): NodeOutput => {
    const { spendPublic, viewPublic } = createKeys(random);
    return { key: spendPublic, commitment: viewPublic, unlocked: true };
  });
  const own = new Map(owned.map((output) => [Number(output.globalIndex), output]));
  return {
    isTrusted: true,
    hiddenCounts: async () => ({
      startHeight: 0,
      cumulative: Array.from({ length: blocks }, (_, i) => (i + 1) * perBlock),
    }),
    visibleCounts: async (amounts) =>
      new Map(amounts.map((amount) => [amount, { unlocked: blocks * perBlock, recent: perBlock }])),
    outputs: async (names) =>
      names.map(({ globalIndex }) => {
        const output = own.get(globalIndex);
        if (output === undefined) return strangers[globalIndex % strangers.length]!;
        return { key: output.oneTimeKey, commitment: commit(output.mask, output.amount), unlocked: true };
      }),
  };
}

/** A ring of strangers around an output, without any node. */
export function ringAround(output: OwnedOutput, random: RandomSource): Ring {
  const real = Number(output.globalIndex);
  const realIndex = real % RING_SIZE;
  const members = Array.from({ length: RING_SIZE }, (_, i) => {
    const { spendPublic, viewPublic } = createKeys(random);
    return { globalIndex: real - realIndex + i, key: spendPublic, commitment: viewPublic };
  });
  const commitment = commit(output.mask, output.amount);
  members[realIndex] = { globalIndex: real, key: output.oneTimeKey, commitment };
  return { members, realIndex };
}
