/** What measures transfers of large wallets: planned, given their rings and signed, on a made-up chain. */
import { commit } from "@anulo/crypto";
import { fromHex } from "@anulo/protocol";
import { accountBalance } from "../src/history/balance.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { DEFAULT_PREFERENCES } from "../src/preferences.ts";
import { closeRuntime, createRuntime } from "../src/runtime.ts";
import { signerOf } from "../src/signer/signer.ts";
import { type PrepareParts, preparePayment } from "../src/transfer/prepare.ts";
import type { NodeOutput, OutputSource, RingMemory } from "../src/transfer/rings.ts";
import type { RingedTransaction } from "../src/transfer/stages.ts";
import { network } from "./large-wallet.ts";
import { bytes, OUTPUTS_PER_BLOCK } from "./many-outputs.ts";
import { destinationOf, receive, receiverOf } from "./transfer-fixture.ts";

/** The chain on which wallets of every size pay. */
const BLOCKS = 60_000;
const ROUNDS = 15;
const WARM_UP = 5;

export const balanceOf = ({ state }: Ledger) =>
  accountBalance(state, {
    account: 0,
    strict: false,
    now: { network, height: state.height, seconds: 1_800_000_000 },
    indexOf: () => undefined,
  });

const keys = createKeys(bytes);
const change = receiverOf(keys);
const strangers = Array.from({ length: 500 }, (): NodeOutput => {
  const { spendPublic, viewPublic } = createKeys(bytes);
  return { key: spendPublic, commitment: viewPublic, unlocked: true };
});

/** A node on which all outputs but those to be spent are strangers', and the memory of rings that tells which these are. */
function nodeFor({ state: { outputs } }: Ledger): { source: OutputSource; memory: RingMemory } {
  const places = new Set<number>();
  const outputAt = (place: number): NodeOutput => {
    if (!places.has(place)) return strangers[place % strangers.length]!;
    const { oneTimeKey, mask, amount } = outputs.at(place)!;
    return { key: oneTimeKey, commitment: commit(mask, amount), unlocked: true };
  };
  const cumulative = Array.from({ length: BLOCKS }, (_, height) => OUTPUTS_PER_BLOCK * height);
  return {
    source: {
      isTrusted: true,
      hiddenCounts: async () => ({ startHeight: 0, cumulative }),
      visibleCounts: async () => new Map(),
      outputs: async (names) => names.map(({ globalIndex }) => outputAt(globalIndex)),
    },
    memory: {
      ringOf(oneTimeKey) {
        const place = outputs.placeOfKey(fromHex(oneTimeKey));
        if (place !== undefined) places.add(place);
        return undefined;
      },
      remember: async () => undefined,
    },
  };
}

/** The same with other keys in place of the made-up ones of its inputs, so that it can be signed. */
function withRealKeys(ringed: RingedTransaction): RingedTransaction {
  const inputs = ringed.inputs.map(({ amount, globalIndex }) =>
    receive(keys, { amount, globalIndex: Number(globalIndex) }, bytes),
  );
  const rings = ringed.rings.map(({ members, realIndex }, i) => {
    const { oneTimeKey, mask, amount } = inputs[i]!;
    const real = { key: oneTimeKey, commitment: commit(mask, amount) };
    return {
      members: members.map((each, at) => (at === realIndex ? { ...each, ...real } : each)),
      realIndex,
    };
  });
  return { ...ringed, inputs, rings };
}

/** Runs a task; returns its result, and its processor time (ms). */
async function timed<T>(task: () => Promise<T>): Promise<[result: T, ms: number]> {
  const from = process.cpuUsage();
  const result = await task();
  const { user, system } = process.cpuUsage(from);
  return [result, (user + system) / 1000];
}

type Paid = { readonly inputs: number; readonly plan: number; readonly all: number };

/** Plans one payment from everything that can be spent, and signs it. Times are processor time, in ms. */
async function pay(parts: PrepareParts, amount: bigint, state: Ledger["state"]): Promise<Paid> {
  const destinations = [destinationOf(createKeys(bytes), amount)];
  const [made, plan] = await timed(() => preparePayment(parts, { account: 0, minors: [], destinations }));
  const transactions = made.map(withRealKeys);
  const signing = { change, state, runtime: { random: parts.random, threads: parts.threads } };
  const signer = signerOf(keys, false);
  const [, sign] = await timed(() => Promise.all(transactions.map((each) => signer.sign(each, signing))));
  return { inputs: made.reduce((sum, { inputs }) => sum + inputs.length, 0), plan, all: plan + sign };
}

const medianOf = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;

/** Processor time (ms) of a payment of some atomic units: the median of each ledger's, which pay in turn. */
export async function measureTransfers(
  ledgers: readonly (readonly [string, Ledger])[],
  amounts: readonly bigint[],
): Promise<void> {
  const runtime = createRuntime({ random: bytes });
  const { random, threads } = runtime;
  const feeRate = { feePerByte: 20_000n, quantizationMask: 10_000n };
  const payers = ledgers.map(([name, ledger]) => {
    const { state } = ledger;
    const { height } = state;
    const spendableNow = { height, seconds: 1_800_000_000, needsKeyImage: true, isUnlocked: () => false };
    const wallet = { preferences: DEFAULT_PREFERENCES, state, spendableNow };
    const common = { wallet, feeRate, change, random, threads, balanceOf: () => balanceOf(ledger) };
    return { name, state, parts: { ...common, ...nodeFor(ledger) } };
  });
  for (const amount of amounts) {
    const paid: Paid[][] = payers.map(() => []);
    for (let round = -WARM_UP; round < ROUNDS; round++)
      for (const [i, { parts, state }] of payers.entries()) {
        const payment = await pay(parts, amount, state);
        if (round >= 0) paid[i]!.push(payment);
      }
    const of = (i: number, time: "plan" | "all") => medianOf(paid[i]!.map((each) => each[time]));
    for (const [i, { name }] of payers.entries()) {
      const what = `a transfer of ${medianOf(paid[i]!.map(({ inputs }) => inputs))} inputs, ${name}`;
      const [all, plan] = [of(i, "all"), of(i, "plan")].map((ms) => ms.toFixed(1).padStart(8));
      const ratio = (of(i, "all") / of(0, "all")).toFixed(2);
      console.log(
        `${what.padEnd(56)} ${all} ms of processor, ${plan} until it is signed; ${ratio} of the first`,
      );
    }
  }
  await closeRuntime(runtime);
}
