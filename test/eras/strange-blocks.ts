import {
  type Block,
  type ConfidentialRingCt,
  type ConfidentialType,
  type RingCt,
  readBlock,
  type Transaction,
  type TxInput,
  type TxOutput,
  writeBlock,
} from "@anulo/protocol";

type Named = readonly [name: string, block: Block];

/** What the strange blocks of a height are made from. */
export type BlockBench = {
  /** Bytes of a good block of this height. */
  readonly good: Uint8Array;
  /** Timestamps of the 60 blocks below. */
  readonly timestamps: readonly number[];
  /** Id (32 bytes) of a transaction further down. */
  readonly minedId: Uint8Array;
};

/** Blocks that are right under the rules of some era, or of none, by name: variations of one good block. */
export function strangeBlocks(bench: BlockBench): Record<string, Uint8Array> {
  const block = readBlock(bench.good);
  const named = [...headers(block, bench), ...miners(block), ...claims(block), ...bodies(block, bench)];
  return {
    ...Object.fromEntries(named.map(([name, variation]) => [name, writeBlock(variation)])),
    "last byte missing": bench.good.subarray(0, -1),
    "one byte more": Buffer.concat([bench.good, Buffer.alloc(1)]),
  };
}

function headers(block: Block, { timestamps }: BlockBench): Named[] {
  const header = (edit: Partial<Block["header"]>): Block => ({
    ...block,
    header: { ...block.header, ...edit },
  });
  const { majorVersion } = block.header;
  const sorted = [...timestamps].sort((a, b) => a - b);
  const median = Math.floor((sorted[29]! + sorted[30]!) / 2);
  return [
    ["good", block],
    ["major version of the era before", header({ majorVersion: majorVersion - 1 })],
    ["major version of the era after", header({ majorVersion: majorVersion + 1 })],
    ["vote for the era before", header({ minorVersion: majorVersion - 1 })],
    ["vote for its own era", header({ minorVersion: majorVersion })],
    ["vote for no era", header({ minorVersion: 0 })],
    ["vote for an era to come", header({ minorVersion: 100 })],
    ["timestamp at the median", header({ timestamp: median })],
    ["timestamp below the median", header({ timestamp: median - 1 })],
    ["timestamp in 2100", header({ timestamp: 4_102_444_800 })],
    ["timestamp after the end of time", header({ timestamp: 2 ** 50 })],
  ];
}

/** The block with another miner transaction. */
function withMiner(block: Block, edit: Partial<Transaction["prefix"]>): Block {
  const { prefix: before, ringct } = block.minerTransaction;
  const prefix = { ...before, ...edit };
  const signatures = prefix.inputs.map(({ type }) => (type === "key" ? [new Uint8Array(64)] : []));
  return {
    ...block,
    minerTransaction: { prefix, signatures: prefix.version === 1 ? signatures : [], ringct },
  };
}

function withVersion(block: Block, version: 1 | 2, ringct?: RingCt): Block {
  const { prefix } = block.minerTransaction;
  return {
    ...block,
    minerTransaction: { prefix: { ...prefix, version }, signatures: version === 1 ? [[]] : [], ringct },
  };
}

function miners(block: Block): Named[] {
  const { inputs, unlockTime, extra } = block.minerTransaction.prefix;
  const { height } = inputs[0] as TxInput & { type: "generation" };
  const generation = (at: number): TxInput => ({ type: "generation", height: at });
  const spend: TxInput = { type: "key", amount: 0n, keyOffsets: [0n], keyImage: key(7) };
  const types: ConfidentialType[] = [1, 2, 3, 4, 5, 6];
  return [
    ["miner height one too low", withMiner(block, { inputs: [generation(height - 1)] })],
    ["miner height one too high", withMiner(block, { inputs: [generation(height + 1)] })],
    ["miner unlocks one block early", withMiner(block, { unlockTime: unlockTime - 1n })],
    ["miner unlocks one block late", withMiner(block, { unlockTime: unlockTime + 1n })],
    ["miner transaction of version 1", withVersion(block, 1)],
    ["miner transaction of version 2", withVersion(block, 2, { type: 0 })],
    ...types.map((type): Named => {
      const proofs = minerRingCt(block, type);
      return [`miner transaction with RingCT type ${type}`, withVersion(block, 2, proofs)];
    }),
    ["miner transaction with RingCT type 3, 17 outputs", manyProven(block, 17)],
    ["miner transaction with RingCT type 3, 16 outputs", manyProven(block, 16)],
    ["two miner inputs", withMiner(block, { inputs: [generation(height), generation(height)] })],
    ["miner spends", withMiner(block, { inputs: [spend] })],
    ["miner without extra", withMiner(block, { extra: new Uint8Array(0) })],
    ["miner extra of 2000 bytes", withMiner(block, { extra: new Uint8Array(2000).fill(2) })],
    ["miner extra of 31 kB", withMiner(block, { extra: new Uint8Array(31_000) })],
    ["miner extra that is cut off", withMiner(block, { extra: Uint8Array.of(...extra, 2, 90) })],
  ];
}

const key = (fill: number) => new Uint8Array(32).fill(fill);
const rows = (count: number) => Array.from({ length: count }, () => key(1));

/** A RingCT part of the right shape, with nothing true in it. */
function minerRingCt(block: Block, type: ConfidentialType): RingCt {
  const { outputs } = block.minerTransaction.prefix;
  const amounts = outputs.length;
  const L = rows(6 + Math.ceil(Math.log2(Math.max(amounts, 1))));
  const one = key(1);
  const old = { A: one, S: one, T1: one, T2: one, taux: one, mu: one, L, R: L, a: one, b: one, t: one };
  const plus = { A: one, A1: one, B: one, r1: one, s1: one, d1: one, L, R: L };
  const bits = new Uint8Array(64 * 32);
  const range = { s0: bits, s1: bits, ee: one, Ci: bits };
  return {
    type,
    fee: 0n,
    pseudoOuts: type === 1 ? [] : rows(1),
    ecdhInfo: outputs.map(() => (type >= 4 ? { amount: new Uint8Array(8) } : { mask: one, amount: one })),
    outputCommitments: rows(amounts),
    prunable: {
      rangeSigs: type < 3 ? outputs.map(() => range) : [],
      bulletproofs: type >= 3 && type <= 5 ? [old] : [],
      bulletproofsPlus: type === 6 ? [plus] : [],
      mgs: type < 5 ? [{ ss: [rows(2)], cc: one }] : [],
      clsags: type >= 5 ? [{ s: [one], c1: one, D: one }] : [],
    },
  };
}

/** The claim in so many outputs, with two range proofs, each for sixteen. */
function manyProven(block: Block, count: number): Block {
  const { outputs } = block.minerTransaction.prefix;
  const total = outputs.reduce((sum, { amount }) => sum + amount, 0n);
  const part = total / BigInt(count);
  const rest = total - part * BigInt(count - 1);
  const split = Array.from({ length: count }, (_, i) => ({ ...outputs[0]!, amount: i === 0 ? rest : part }));
  const many = withMiner(block, { outputs: split });
  const ringct = minerRingCt(many, 3) as ConfidentialRingCt;
  const L = rows(10);
  const [proof] = ringct.prunable!.bulletproofs;
  const bulletproofs = [proof!, proof!].map((one) => ({ ...one, L, R: L }));
  return withVersion(many, 2, { ...ringct, prunable: { ...ringct.prunable!, bulletproofs } });
}

function claims(block: Block): Named[] {
  const { outputs } = block.minerTransaction.prefix;
  const total = outputs.reduce((sum, { amount }) => sum + amount, 0n);
  const paying = (changed: readonly TxOutput[]) => withMiner(block, { outputs: [...changed] });
  const to = (amount: bigint): TxOutput => ({ ...outputs[0]!, amount });
  const first = outputs[0]!;
  const more = (amount: bigint) => [{ ...first, amount: first.amount + amount }, ...outputs.slice(1)];
  const targets = (edit: (key: Uint8Array) => TxOutput["target"]) =>
    paying(outputs.map((output) => ({ ...output, target: edit(keyOf(output)) })));
  return [
    ["miner claims one more", paying(more(1n))],
    ["miner claims one less", paying(more(-1n))],
    ["miner claims one digit less", paying(outputs.length > 1 ? outputs.slice(1) : more(-1_000_000n))],
    ["miner claims nothing", paying([])],
    ["miner claims in one sum", paying([to(total)])],
    ["miner claims in digits", paying(digits(total).map(to))],
    ["miner claims in digits, less dust", paying(digits(total - (total % 100_000_000n)).map(to))],
    ["miner claims in two halves", paying([to(total / 2n), to(total - total / 2n)])],
    ["miner output of nothing", paying([...outputs, to(0n)])],
    ["miner amounts overflow", paying([...outputs, to(2n ** 64n - 1n)])],
    ["miner outputs with view tags", targets((k) => ({ type: "taggedKey", key: k, viewTag: 1 }))],
    ["miner outputs without view tags", targets((k) => ({ type: "key", key: k }))],
    ["miner outputs to script hashes", targets((hash) => ({ type: "scriptHash", hash }))],
    ["miner outputs of both kinds", paying([...outputs, otherKind(first)])],
    ["miner key that is no point", targets(() => ({ ...first.target, key: key(2) }) as TxOutput["target"])],
  ];
}

function keyOf({ target }: TxOutput): Uint8Array {
  return target.type === "key" || target.type === "taggedKey" ? target.key : key(3);
}

/** An output of nothing with the other kind of key. */
function otherKind(output: TxOutput): TxOutput {
  const target: TxOutput["target"] =
    output.target.type === "key"
      ? { type: "taggedKey", key: keyOf(output), viewTag: 1 }
      : { type: "key", key: keyOf(output) };
  return { amount: 0n, target };
}

/** An amount as a sum of single digits with zeros. */
function digits(amount: bigint): bigint[] {
  const text = String(amount);
  return [...text]
    .map((digit, i) => BigInt(digit) * 10n ** BigInt(text.length - 1 - i))
    .filter((part) => part > 0n);
}

function bodies(block: Block, { minedId }: BlockBench): Named[] {
  const naming = (...ids: Uint8Array[]): Block => ({ ...block, transactionHashes: ids });
  return [
    ["names an unknown transaction", naming(key(3))],
    ["names a transaction of the chain", naming(minedId)],
  ];
}
