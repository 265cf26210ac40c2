import { pointAdd, publicKeyOf, randomScalar, scFromUint64 } from "@anulo/crypto";
import {
  type ConfidentialRingCt,
  fromHex,
  type KeyInput,
  type Transaction,
  type TxOutput,
  writeTransaction,
} from "@anulo/protocol";
import type { Bench, Case } from "./bench.ts";
import { type Coin, candidate, type Forge, type SpendPlan, seededRandom, tagged } from "./forge.ts";

type Named = [name: string, transaction: Transaction];
type Options = Omit<SpendPlan, "inputs">;

/** A point of order 8. Source: the list of small-order points in RFC 8032 implementations. */
export const TORSION_POINT = fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");
const IDENTITY = fromHex(`01${"00".repeat(31)}`);
/** No point has y = 2. */
export const NO_POINT = fromHex(`02${"00".repeat(31)}`);
const ANOTHER_POINT = publicKeyOf(scFromUint64(5n));
const ABOVE_ORDER = new Uint8Array(32).fill(0xff);

const keyInput = (transaction: Transaction, i = 0) => transaction.prefix.inputs[i] as KeyInput;
const ringct = (transaction: Transaction) => transaction.ringct as ConfidentialRingCt;
const proofOf = (transaction: Transaction) => ringct(transaction).prunable!.bulletproofsPlus[0]!;
const clsagOf = (transaction: Transaction) => ringct(transaction).prunable!.clsags[0]!;

/** Makes transactions of coins not used before, as far as there are any. */
function createTools({ forge, coins }: Bench) {
  let next = 0;
  const coin = () => coins[3 + (next++ % 22)]!;
  const one = (plan: Options = {}) => forge.spend({ inputs: [{ coin: coin() }], ...plan });
  const two = (plan: Options = {}) => forge.spend({ inputs: [{ coin: coin() }, { coin: coin() }], ...plan });
  const ring = (edit: (members: bigint[]) => bigint[], real = coins[3]!, plan: Options = {}) =>
    forge.spend({ inputs: [{ coin: real, members: edit(forge.ringOf(real)) }], ...plan });
  const signedThen = (edit: (transaction: Transaction) => unknown, transaction = one()) => {
    edit(transaction);
    return transaction;
  };
  const outputs = (edit: (outputs: TxOutput[]) => unknown, plan: Options = {}) =>
    one({ ...plan, editPrefix: (prefix) => void edit(prefix.outputs) });
  return { coin, one, two, ring, signedThen, outputs };
}

type Tools = ReturnType<typeof createTools>;

/** Transactions good and bad, each on its own on top of the chain. */
export function mutatedTransactions(bench: Bench): Case[] {
  const tools = createTools(bench);
  const whole = [
    ...goodOnes(tools, bench),
    ...rings(tools, bench),
    ...prefixes(tools),
    ...rangeProofs(tools),
    ...signatures(tools),
    ...keyImages(tools),
    ...combinations(tools, bench),
    ...otherKinds(tools, bench),
  ];
  const cases = whole.map(([name, transaction]) => ({ name, blob: writeTransaction(transaction) }));
  return [...cases, ...noTransactions(writeTransaction(tools.one()))];
}

function goodOnes({ one, two }: Tools, { forge }: Bench): Named[] {
  const { weight } = candidate(one({ fee: 1_600_000_000n }));
  const needed = neededFee(forge, weight);
  const fee = 20_000_000_000n;
  return [
    ["a good transaction", one()],
    ["two inputs", two()],
    ["sixteen outputs", one({ amounts: Array.from({ length: 15 }, () => 1n), fee })],
    [
      "unlock time far ahead",
      one({ editPrefix: (p) => void Object.assign(p, { unlockTime: 400_000_000n }) }),
    ],
    ["extra of 5,000 bytes", one({ extra: new Uint8Array(5000), fee })],
    ["no extra", one({ extra: new Uint8Array(0) })],
    ["fee at the 2% leeway", one({ fee: needed - needed / 50n })],
    ["fee one below the leeway", one({ fee: needed - needed / 50n - 1n })],
    ["fee of zero", one({ fee: 0n })],
    ["heavier than a transaction may be", one({ extra: new Uint8Array(149_000), fee: 300_000_000_000n })],
  ];
}

/** By the rules of hard fork 16, with the medians at their floor. */
function neededFee(forge: Forge, weight: number): bigint {
  const reward = (2n ** 64n - 1n - forge.view().alreadyGenerated) >> 19n;
  const perByte = (reward * 3000n) / 300_000n / 300_000n;
  const fee = BigInt(weight) * (perByte - perByte / 20n);
  return ((fee + 9999n) / 10_000n) * 10_000n;
}

function rings({ ring, two, signedThen }: Tools, { coins, oldSpend, youngSpend }: Bench): Named[] {
  const locked = coins[60]!.globalIndex;
  const ending = (member: bigint) => ring((members) => [...members.slice(0, 15), member]);
  return [
    ["ring of 15", ring((members) => members.slice(0, 15))],
    ["ring of 17", ring((members) => [...members, members.at(-1)! + 1n])],
    ["ring of 11", ring((members) => members.slice(0, 11))],
    ["ring of 1", ring((members) => members.slice(3, 4))],
    ["rings of different sizes", signedThen((t) => keyInput(t, 1).keyOffsets.pop(), two())],
    ["ring member twice", ring((members) => [...members.slice(0, 15), members[14]!])],
    ["ring member twice, apart by wrapping", ring((members) => [...members.slice(0, 15), members[2]!])],
    ["ring member that does not exist", ending(99_999n)],
    ["ring member still locked", ending(locked)],
    ["ring member five blocks old", ending(youngSpend.firstOutput)],
    ["ring member old enough", ending(oldSpend.firstOutput)],
    [
      "young member hidden by wrapping",
      ring((members) => [...members.slice(0, 14), youngSpend.firstOutput, members[14]!]),
    ],
  ];
}

function plain(output: TxOutput): unknown {
  const { target } = output;
  return target.type === "taggedKey" && Object.assign(output, { target: { type: "key", key: target.key } });
}

function prefixes({ one, two, outputs, signedThen }: Tools): Named[] {
  const first = (output: TxOutput) => (list: TxOutput[]) => Object.assign(list, { 0: output });
  const target = { type: "scriptHash", hash: new Uint8Array(32) } as const;
  const input = (edit: Partial<KeyInput>) =>
    one({ editPrefix: ({ inputs }) => void Object.assign(inputs[0]!, edit) });
  return [
    ["input amount not hidden", input({ amount: 1000n })],
    ["inputs in ascending order", two({ isUnsorted: true })],
    ["one output", one({ amounts: [] })],
    ["plain key outputs", outputs((list) => list.map(plain))],
    ["one plain and one tagged output", outputs((list) => plain(list[0]!))],
    ["script hash output", outputs(first({ amount: 0n, target }))],
    ["visible output amount", outputs((list) => Object.assign(list[1]!, { amount: 5n }))],
    ["output key that is no point", outputs(first(tagged(NO_POINT)))],
    ["output key of small order", outputs(first(tagged(TORSION_POINT)))],
    ["the same output key twice", outputs((list) => Object.assign(list, { 1: list[0] }))],
    [
      "extra changed after signing",
      signedThen((t) => Object.assign(t.prefix, { extra: new Uint8Array(34) })),
    ],
    ["unlock time changed after signing", signedThen((t) => Object.assign(t.prefix, { unlockTime: 1n }))],
    [
      "view tag changed after signing",
      signedThen((t) => Object.assign(t.prefix.outputs[0]!.target, { viewTag: 9 })),
    ],
  ];
}

function rangeProofs({ signedThen }: Tools): Named[] {
  const proof = (edit: Partial<ReturnType<typeof proofOf>>) =>
    signedThen((t) => Object.assign(proofOf(t), edit));
  const rounds = (count: number) =>
    signedThen((t) => {
      for (const half of [proofOf(t).L, proofOf(t).R]) {
        while (half.length < count) half.push(IDENTITY);
        half.length = count;
      }
    });
  const commitments = (edit: (commitments: Uint8Array[]) => unknown) =>
    signedThen((t) => edit(ringct(t).outputCommitments));
  return [
    ["fee changed after signing", signedThen((t) => Object.assign(ringct(t), { fee: ringct(t).fee + 1n }))],
    ["fee of 2^64 - 1", signedThen((t) => Object.assign(ringct(t), { fee: 2n ** 64n - 1n }))],
    ["commitment of no point", commitments((list) => Object.assign(list, { 0: NO_POINT }))],
    ["commitments exchanged", commitments((list) => list.reverse())],
    ["commitment of another amount", commitments((list) => Object.assign(list, { 0: ANOTHER_POINT }))],
    ["range proof with another A", proof({ A: ANOTHER_POINT })],
    ["range proof with A of no point", proof({ A: NO_POINT })],
    ["range proof with another r1", proof({ r1: scFromUint64(5n) })],
    ["range proof with r1 above the order", proof({ r1: ABOVE_ORDER })],
    ["range proof with another L", signedThen((t) => Object.assign(proofOf(t).L, { 3: ANOTHER_POINT }))],
    ["range proof with a round too many", rounds(8)],
    ["two range proofs", signedThen((t) => ringct(t).prunable!.bulletproofsPlus.push(proofOf(t)))],
  ];
}

function signatures({ two, signedThen }: Tools): Named[] {
  const clsag = (edit: Partial<ReturnType<typeof clsagOf>>) =>
    signedThen((t) => Object.assign(clsagOf(t), edit));
  const response = (s: Uint8Array) => signedThen((t) => Object.assign(clsagOf(t).s, { 4: s }));
  return [
    ["CLSAG with another response", response(scFromUint64(5n))],
    ["CLSAG with a response above the order", response(ABOVE_ORDER)],
    ["CLSAG with another challenge", clsag({ c1: scFromUint64(5n) })],
    ["CLSAG with a challenge above the order", clsag({ c1: ABOVE_ORDER })],
    ["CLSAG with another D", clsag({ D: ANOTHER_POINT })],
    ["CLSAG with D of small order", clsag({ D: TORSION_POINT })],
    ["CLSAG with D of no point", clsag({ D: NO_POINT })],
    ["CLSAGs exchanged", signedThen((t) => ringct(t).prunable!.clsags.reverse(), two())],
    ["pseudo outputs exchanged", signedThen((t) => ringct(t).pseudoOuts.reverse(), two())],
    ["pseudo output of no point", signedThen((t) => Object.assign(ringct(t).pseudoOuts, { 0: NO_POINT }))],
    [
      "encrypted amount changed",
      signedThen((t) => Object.assign(ringct(t).ecdhInfo[0]!, { amount: new Uint8Array(8) })),
    ],
  ];
}

function keyImages({ two, signedThen }: Tools): Named[] {
  const keyImage = (image: (old: Uint8Array) => Uint8Array) =>
    signedThen((t) => Object.assign(keyInput(t), { keyImage: image(keyInput(t).keyImage) }));
  const twice = signedThen((t) => Object.assign(keyInput(t, 1), { keyImage: keyInput(t).keyImage }), two());
  return [
    ["key image of another coin", keyImage(() => ANOTHER_POINT)],
    ["key image with a torsion part", keyImage((old) => pointAdd(old, TORSION_POINT))],
    ["key image of small order", keyImage(() => TORSION_POINT)],
    ["key image zero", keyImage(() => IDENTITY)],
    ["key image of no point", keyImage(() => NO_POINT)],
    ["the same key image twice", twice],
  ];
}

/** Two faults at once show which is looked for first. */
function combinations({ one, ring, signedThen, outputs }: Tools, { forge, coins }: Bench): Named[] {
  const [onChain, inPool, free] = [coins[0]!, coins[2]!, coins[5]!];
  const short = (coin: Coin, plan: Options = {}) => ring((members) => members.slice(0, 15), coin, plan);
  const spend = (coin: Coin, plan: Options = {}) => forge.spend({ inputs: [{ coin }], ...plan });
  const badSignature = (t: Transaction) => Object.assign(clsagOf(t), { c1: scFromUint64(5n) });
  const plainOutputs: Options = { editPrefix: (prefix) => void prefix.outputs.map(plain) };
  return [
    ["a coin spent on the chain", spend(onChain)],
    ["a coin spent in the pool", spend(inPool)],
    ["spent in the pool, and one output", spend(inPool, { amounts: [] })],
    ["spent on the chain, and ring of 15", short(onChain)],
    ["spent on the chain, and one output", spend(onChain, { amounts: [] })],
    ["spent on the chain, and plain key outputs", spend(onChain, plainOutputs)],
    ["spent in the pool, and fee too low", spend(inPool, { fee: 10_000n })],
    ["fee too low, and ring of 15", short(free, { fee: 10_000n })],
    ["fee too low, and out of balance", signedThen((t) => Object.assign(ringct(t), { fee: 1n }))],
    ["fee too low, and a bad CLSAG", signedThen(badSignature, one({ fee: 10_000n }))],
    ["ring of 15, and a bad CLSAG", signedThen(badSignature, short(free))],
    ["one output, and ring of 15", short(free, { amounts: [] })],
    [
      "visible amount, and spent on the chain",
      spend(onChain, { editPrefix: (p) => void Object.assign(p.outputs[0]!, { amount: 9n }) }),
    ],
    [
      "visible amount, and fee too low",
      outputs((list) => Object.assign(list[0]!, { amount: 9n }), { fee: 10_000n }),
    ],
  ];
}

function otherKinds({ one, coin }: Tools, { forge, oldSpend, height }: Bench): Named[] {
  const inputs: Transaction["prefix"]["inputs"] = [{ type: "generation", height }];
  return [
    ["already on the chain", oldSpend.candidate.transaction],
    ["version 1 without ringct", versionOne(coin(), forge, 17_592_186_044_415n)],
    ["version 1 of hidden amounts", versionOne(coin(), forge, 0n)],
    ["version 1 paying more than it spends", versionOne(coin(), forge, 1n)],
    ["version 1 of an amount nobody has", versionOne(coin(), forge, 30_000_000_000_000n)],
    ["ringct type 0", { ...one(), ringct: { type: 0 } }],
    ["generation input", { prefix: { ...one().prefix, inputs }, signatures: [], ringct: { type: 0 } }],
  ];
}

/** Spends one visible amount without a valid signature. */
function versionOne(coin: Coin, forge: Forge, amount: bigint): Transaction {
  const { prefix } = forge.spend({ inputs: [{ coin }] });
  const input = { ...(prefix.inputs[0] as KeyInput), amount };
  const outputs = [tagged(publicKeyOf(randomScalar(forge.random)), 10n)];
  const signatures = [input.keyOffsets.map(() => new Uint8Array(64))];
  return { prefix: { ...prefix, version: 1, inputs: [input], outputs }, signatures, ringct: undefined };
}

/** Bytes that are no transaction. */
function noTransactions(good: Uint8Array): Case[] {
  return [
    { name: "one byte too many", blob: new Uint8Array([...good, 0]) },
    { name: "one byte too few", blob: good.slice(0, -1) },
    { name: "nothing", blob: new Uint8Array(0) },
    { name: "version 0", blob: new Uint8Array([0, ...good.slice(1)]) },
    { name: "version 3", blob: new Uint8Array([3, ...good.slice(1)]) },
    { name: "version in two bytes", blob: new Uint8Array([0x82, 0, ...good.slice(1)]) },
    { name: "no inputs", blob: new Uint8Array([2, 0, 0, 0, 0, 0]) },
    { name: "noise", blob: seededRandom("noise")(500) },
  ];
}
