import {
  commit,
  generateRingSignature,
  H,
  keyImageOf,
  pointSub,
  pointSum,
  proveBulletproofPlus,
  publicKeyOf,
  type RandomSource,
  randomScalar,
  scalarMult,
  scFromUint64,
  scSub,
  signClsag,
} from "@anulo/crypto";
import {
  type ConfidentialRingCt,
  type ConfidentialType,
  compareBytes,
  type RingCtPrunable,
  ringCtMessage,
  type Transaction,
  type TransactionPrefix,
  type TxOutput,
  transactionPrefixHash,
} from "@anulo/protocol";
import { proveBorromean } from "./borromean-prover.ts";
import { proveBulletproof } from "./bulletproof-prover.ts";
import type { Coin, Ledger, Listed } from "./ledger.ts";
import { signMlsag } from "./mlsag-signer.ts";
import { fromBytes, mod, toBytes } from "./scalars.ts";

/** 0: version 1 with ring signatures; else a RingCT type. */
export type Kind = 0 | ConfidentialType;

export type Order = {
  readonly kind: Kind;
  readonly inputs: readonly { readonly coin: Coin; readonly ring: readonly bigint[] }[];
  /** Atomic units of each output; what is left of the inputs is the fee. */
  readonly amounts: readonly bigint[];
  readonly hasViewTags?: boolean;
  readonly isAscending?: boolean;
  readonly unlockTime?: bigint;
  readonly extra?: Uint8Array;
  /** Changes the prefix before it is signed. */
  readonly edit?: (prefix: TransactionPrefix) => TransactionPrefix;
  /** Changes the range proofs before they are signed. */
  readonly editProofs?: (proofs: RangeProofs) => RangeProofs;
};

type RangeProofs = Pick<RingCtPrunable, "rangeSigs" | "bulletproofs" | "bulletproofsPlus">;

type Spent = {
  readonly coin: Coin;
  readonly ring: readonly Listed[];
  readonly indices: readonly bigint[];
  readonly keyImage: Uint8Array;
  readonly realIndex: number;
};

const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);
const sumOfScalars = (scalars: readonly Uint8Array[]) => toBytes(mod(sum(scalars.map(fromBytes))));

/** A transaction of any era whose proofs hold; its outputs are ours once it is in a block. */
export function forgeTransaction(ledger: Ledger, order: Order, random: RandomSource): Transaction {
  const { kind, amounts } = order;
  const spent = resolve(ledger, order);
  const secrets = amounts.map((amount) => ({
    secretKey: randomScalar(random),
    mask: kind === 0 ? scFromUint64(1n) : randomScalar(random),
    amount,
  }));
  for (const secret of secrets) ledger.expect(publicKeyOf(secret.secretKey), secret);
  const plain = prefixOf(order, { spent, keys: secrets.map(({ secretKey }) => publicKeyOf(secretKey)) });
  const prefix = order.edit?.(plain) ?? plain;
  if (kind === 0) return signVersion1(prefix, spent, random);
  const { editProofs = (proofs: RangeProofs) => proofs } = order;
  const masks = secrets.map(({ mask }) => mask);
  return signRingCt({ kind, prefix, spent, amounts, masks, random, editProofs });
}

function resolve(ledger: Ledger, { inputs, isAscending }: Order): Spent[] {
  const direction = isAscending ? 1 : -1;
  return inputs
    .map(({ coin, ring }) => ({
      coin,
      ring: ring.map((index) => ledger.outputs.get(coin.listed)![Number(index)]!),
      indices: ring,
      keyImage: keyImageOf(coin.key, coin.secretKey),
      realIndex: ring.indexOf(coin.globalIndex),
    }))
    .sort((a, b) => direction * compareBytes(a.keyImage, b.keyImage));
}

type Keys = { readonly spent: readonly Spent[]; readonly keys: readonly Uint8Array[] };

function prefixOf(order: Order, { spent, keys }: Keys): TransactionPrefix {
  const { kind, amounts, hasViewTags = false, unlockTime = 0n } = order;
  const extra = order.extra ?? new Uint8Array([1, ...publicKeyOf(scFromUint64(7n))]);
  const offsets = (indices: readonly bigint[]) =>
    indices.map((index, i) => BigInt.asUintN(64, index - (indices[i - 1] ?? 0n)));
  const outputs = keys.map((key, i): TxOutput => {
    const amount = kind === 0 ? amounts[i]! : 0n;
    return { amount, target: hasViewTags ? { type: "taggedKey", key, viewTag: 5 } : { type: "key", key } };
  });
  return {
    version: kind === 0 ? 1 : 2,
    unlockTime,
    inputs: spent.map(({ coin, indices, keyImage }) => ({
      type: "key",
      amount: coin.listed,
      keyOffsets: offsets(indices),
      keyImage,
    })),
    outputs,
    extra,
  };
}

function signVersion1(prefix: TransactionPrefix, spent: readonly Spent[], random: RandomSource): Transaction {
  const prefixHash = transactionPrefixHash({ prefix });
  const signatures = spent.map(({ coin, ring, keyImage, realIndex }) => {
    const statement = { prefixHash, keyImage, publicKeys: ring.map(({ key }) => key) };
    return generateRingSignature(statement, { secretKey: coin.secretKey, realIndex }, random);
  });
  return { prefix, signatures, ringct: undefined };
}

type RingCtOrder = {
  readonly kind: ConfidentialType;
  readonly prefix: TransactionPrefix;
  readonly spent: readonly Spent[];
  readonly amounts: readonly bigint[];
  readonly masks: readonly Uint8Array[];
  readonly random: RandomSource;
  editProofs(proofs: RangeProofs): RangeProofs;
};

function signRingCt(order: RingCtOrder): Transaction {
  const { kind, prefix, spent, amounts, masks, random } = order;
  const pseudoMasks = spent.map(() => randomScalar(random));
  pseudoMasks[0] = scSub(sumOfScalars(masks), sumOfScalars(pseudoMasks.slice(1)));
  const pseudoOuts = spent.map(({ coin }, i) => commit(pseudoMasks[i]!, coin.amount));
  const ringct: ConfidentialRingCt & { prunable: RingCtPrunable } = {
    type: kind,
    fee: sum(spent.map(({ coin }) => coin.amount)) - sum(amounts),
    pseudoOuts: kind === 1 ? [] : pseudoOuts,
    ecdhInfo: amounts.map(() =>
      kind >= 4 ? { amount: random(8) } : { mask: randomScalar(random), amount: randomScalar(random) },
    ),
    outputCommitments: amounts.map((amount, i) => commit(masks[i]!, amount)),
    prunable: { ...order.editProofs(rangeProofs(order)), mgs: [], clsags: [] },
  };
  const zero = new Uint8Array(32);
  const sizes = spent.map(({ ring }) => ring.length);
  ringct.prunable.clsags =
    kind >= 5
      ? sizes.map((size) => ({ s: Array.from({ length: size }, () => zero), c1: zero, D: zero }))
      : [];
  const rows = kind === 1 ? spent.length + 1 : 2;
  const blank = (size: number) => ({
    ss: Array.from({ length: size }, () => Array.from({ length: rows }, () => zero)),
    cc: zero,
  });
  if (kind < 5) ringct.prunable.mgs = kind === 1 ? [blank(sizes[0]!)] : sizes.map(blank);
  const transaction: Transaction = { prefix, signatures: [], ringct };
  const message = ringCtMessage(transaction);
  const signing = { ...order, message, pseudoMasks, pseudoOuts, ringct };
  if (kind === 1) ringct.prunable.mgs = [signFull(signing)];
  else if (kind < 5) ringct.prunable.mgs = spent.map((_, i) => signSimple(signing, i));
  else ringct.prunable.clsags = spent.map((_, i) => signConcise(signing, i));
  fitSignatures(ringct.prunable, sizes[0]!);
  return transaction;
}

/** The format has room for rings of one size only: signatures of others are cut or filled up. */
function fitSignatures(prunable: RingCtPrunable, size: number): void {
  const fit = <T>(members: readonly T[]): T[] =>
    Array.from({ length: size }, (_, i) => members[i] ?? members[0]!);
  prunable.mgs = prunable.mgs.map((proof) => ({ ...proof, ss: fit(proof.ss) }));
  prunable.clsags = prunable.clsags.map((proof) => ({ ...proof, s: fit(proof.s) }));
}

function rangeProofs({ kind, amounts, masks, random }: RingCtOrder): RangeProofs {
  const none = { rangeSigs: [], bulletproofs: [], bulletproofsPlus: [] };
  if (kind < 3) {
    return { ...none, rangeSigs: amounts.map((amount, i) => proveBorromean(amount, masks[i]!, random)) };
  }
  if (kind < 6) return { ...none, bulletproofs: [proveBulletproof(amounts, masks, random)] };
  return { ...none, bulletproofsPlus: [proveBulletproofPlus([...amounts], [...masks], random).proof] };
}

type Signing = RingCtOrder & {
  readonly message: Uint8Array;
  readonly pseudoMasks: readonly Uint8Array[];
  readonly pseudoOuts: readonly Uint8Array[];
  readonly ringct: ConfidentialRingCt;
};

function signFull({ spent, masks, message, ringct, random }: Signing) {
  const paid = pointSum([...ringct.outputCommitments, scalarMult(scFromUint64(ringct.fee), H)]);
  const columns = spent[0]!.ring.map((_, at) => {
    const members = spent.map(({ ring }) => ring[at]!);
    const received = pointSum(members.map(({ commitment }) => commitment));
    return [...members.map(({ key }) => key), pointSub(received, paid)];
  });
  const masksIn = sumOfScalars(spent.map(({ coin }) => coin.mask));
  const secrets = [...spent.map(({ coin }) => coin.secretKey), scSub(masksIn, sumOfScalars(masks))];
  const keyImages = spent.map(({ keyImage }) => keyImage);
  return signMlsag({ message, columns, keyImages, secrets, realIndex: spent[0]!.realIndex, random });
}

function signSimple({ spent, message, pseudoMasks, pseudoOuts, random }: Signing, i: number) {
  const { coin, ring, keyImage, realIndex } = spent[i]!;
  const columns = ring.map(({ key, commitment }) => [key, pointSub(commitment, pseudoOuts[i]!)]);
  const secrets = [coin.secretKey, scSub(coin.mask, pseudoMasks[i]!)];
  return signMlsag({ message, columns, keyImages: [keyImage], secrets, realIndex, random });
}

function signConcise({ spent, message, pseudoMasks, pseudoOuts, random }: Signing, i: number) {
  const { coin, ring, realIndex } = spent[i]!;
  const secretMask = scSub(coin.mask, pseudoMasks[i]!);
  const { secretKey } = coin;
  const pseudoOut = pseudoOuts[i]!;
  return signClsag({ message, ring: [...ring], pseudoOut, secretKey, secretMask, realIndex, random }).proof;
}
