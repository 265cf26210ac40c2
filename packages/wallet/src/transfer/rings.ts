/** Rings for outputs about to be spent. Source: wallet2.cpp `get_outs`, `tx_add_fake_output`, tx_sanity_check.cpp. */
import { commit, isInMainSubgroup, type RandomSource } from "@anulo/crypto";
import { equalBytes, toHex } from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WorkThreads } from "../threads/work-threads.ts";
import { mapPatiently } from "../turns.ts";
import {
  type AmountCount,
  type CumulativeOutputs,
  pickCandidates,
  pickVisibleCandidates,
  spendableOutputCount,
} from "./decoys.ts";
import { agreesWith, type OutputCounts } from "./output-counts.ts";
import { listedAmount, RING_SIZE, type Ring, type RingMember } from "./stages.ts";

/**
 * One and a half rings; for RingCT as many more as there may be recent coinbase outputs, which are locked for longer.
 */
const VISIBLE_CANDIDATES = Math.floor(RING_SIZE * 1.5 + 1);
const CANDIDATES = VISIBLE_CANDIDATES + 60 - 10;
/**
 * Maximum number of candidates for one output: each question that fails adds some to those of the questions before, so
 * that the real output is not all that they share.
 */
const MOST_CANDIDATES = 4 * CANDIDATES;
/** Maximum number of outputs requested in one call. */
const OUTPUTS_PER_CALL = 1000;
const ATTEMPTS = 3;

/** An output as the node describes it. */
export type NodeOutput = {
  readonly key: Uint8Array;
  readonly commitment: Uint8Array;
  readonly unlocked: boolean;
};

/** Identifies an output by its amount, 0 for RingCT, and its index among all outputs of that amount. */
export type OutputName = { readonly amount: bigint; readonly globalIndex: number };

/** The requests for rings to the node. */
export type OutputSource = {
  /** Whether the node may learn which outputs are the wallet's. */
  readonly isTrusted: boolean;
  /** How many RingCT outputs each block has. */
  hiddenCounts(): Promise<OutputCounts>;
  /** How many outputs of these public amounts there are. */
  visibleCounts(amounts: readonly bigint[]): Promise<ReadonlyMap<bigint, AmountCount>>;
  /** One output for each name, in order. */
  outputs(names: readonly OutputName[]): Promise<readonly NodeOutput[]>;
};

/** What a node may know of an output already, by hex one-time key. */
export type RingMemory = {
  /**
   * Global indices: the ring in which this wallet has used the output, or, while there is none, all candidates for it
   * that were requested, in the order of picking.
   */
  ringOf(oneTimeKey: string): readonly number[] | undefined;
  /** Takes effect at once, and resolves once they are on disk. */
  remember(rings: readonly (readonly [string, readonly number[]])[]): Promise<void>;
};

export type RingRequest = {
  readonly inputs: readonly OwnedOutput[];
  readonly source: OutputSource;
  readonly memory: RingMemory;
  readonly random: RandomSource;
  readonly threads: WorkThreads;
};

/** Indices of the real output and its possible decoys. */
type Candidates = {
  readonly input: OwnedOutput;
  /** Those that are requested, in the order of picking: also those that the node says are too new by now. */
  readonly requested: readonly number[];
  /** Those that may be members, in the order in which they are tried. */
  readonly indices: readonly number[];
  /** Whether they contain one that was not requested before, for an output that was not in a ring yet. */
  readonly areNews: boolean;
  /** The earlier ring, if the node must get no other one; otherwise empty. */
  readonly ringToKeep: readonly number[];
};

const realIndexOf = (input: OwnedOutput): number => Number(input.globalIndex);

type Answers = (amount: bigint, globalIndex: number) => NodeOutput | undefined;

async function fetchOutputs(source: OutputSource, names: readonly OutputName[]): Promise<Answers> {
  const outputsByKey = new Map<string, NodeOutput>();
  for (let at = 0; at < names.length; at += OUTPUTS_PER_CALL) {
    const part = names.slice(at, at + OUTPUTS_PER_CALL);
    const outputs = await source.outputs(part);
    if (outputs.length !== part.length)
      throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "daemon returned wrong response for get_outs.bin");
    for (const [i, { amount, globalIndex }] of part.entries())
      outputsByKey.set(`${amount}/${globalIndex}`, outputs[i]!);
  }
  return (amount, globalIndex) => outputsByKey.get(`${amount}/${globalIndex}`);
}

/** A node that returns a false real output could recognise it later, so its response must equal the wallet's data. */
function checkRealOutput(input: OwnedOutput, answer: NodeOutput | undefined): RingMember {
  const commitment = commit(input.mask, input.amount);
  const isTrue =
    answer?.unlocked && equalBytes(answer.key, input.oneTimeKey) && equalBytes(answer.commitment, commitment);
  if (!isTrue)
    throw new WalletRefusal(
      "GENERIC_TRANSFER_ERROR",
      "Daemon response did not include the requested real output",
    );
  return { globalIndex: realIndexOf(input), key: input.oneTimeKey, commitment };
}

type IsUsable = (output: NodeOutput) => boolean;

/**
 * Returns a function that tests whether an output may be a ring member; the likely candidates are checked beforehand,
 * in threads.
 */
async function usabilityOf(likely: readonly NodeOutput[], threads: WorkThreads): Promise<IsUsable> {
  const unlocked = [...new Set(likely)].filter((output) => output.unlocked);
  const points = unlocked.flatMap(({ key, commitment }) => [key, commitment]);
  const arePoints = await threads.map("arePoints", points, {});
  const validity = new Map(unlocked.map((output, i) => [output, arePoints[2 * i]! && arePoints[2 * i + 1]!]));
  return (output) =>
    validity.get(output) ??
    (output.unlocked && isInMainSubgroup(output.key) && isInMainSubgroup(output.commitment));
}

/** The candidates except the real output. */
const othersOf = ({ input, indices }: Candidates): number[] =>
  indices.filter((index) => index !== realIndexOf(input));

/** The real output, then the candidates in the order of picking until the ring is full. */
function chooseMembers(candidates: Candidates, answerOf: Answers, isUsable: IsUsable): Ring {
  const { input } = candidates;
  const real = realIndexOf(input);
  const amount = listedAmount(input);
  const members = [checkRealOutput(input, answerOf(amount, real))];
  for (const globalIndex of othersOf(candidates)) {
    if (members.length === RING_SIZE) break;
    const answer = answerOf(amount, globalIndex);
    if (answer === undefined || !isUsable(answer)) continue;
    // If a node returned the same key for every decoy, the real one would stand out.
    if (members.some(({ key }) => equalBytes(key, answer.key))) continue;
    members.push({ globalIndex, key: answer.key, commitment: answer.commitment });
  }
  if (members.length < RING_SIZE)
    throw new WalletRefusal("NOT_ENOUGH_OUTS_TO_MIX", "not enough outputs to use Please use sweep_dust.");
  if (!candidates.ringToKeep.every((index) => members.some(({ globalIndex }) => globalIndex === index)))
    throw new WalletRefusal(
      "GENERIC_TRANSFER_ERROR",
      "the node does not have the ring in which an output was used before, and must not see it in another one, which would show that it is the one that is spent: use a trusted node",
    );
  members.sort((a, b) => a.globalIndex - b.globalIndex);
  return { members, realIndex: members.findIndex(({ globalIndex }) => globalIndex === real) };
}

/** Whether a node that checks transactions for unusual rings would accept these. Source: `tx_sanity_check`. */
function looksNormal(rings: readonly Ring[], outputCount: number): boolean {
  const indices = rings.flatMap(({ members }) => members.map(({ globalIndex }) => globalIndex));
  if (indices.length <= 10 || outputCount < 10_000) return true;
  const unique = [...new Set(indices)].sort((a, b) => a - b);
  if (unique.length < Math.floor((indices.length * 8) / 10)) return false;
  const middle = unique.length >> 1;
  const median =
    unique.length % 2 === 1 ? unique[middle]! : Math.floor((unique[middle - 1]! + unique[middle]!) / 2);
  return median >= Math.floor((outputCount * 6) / 10);
}

/** The node's data about the candidates for the rings. */
type Surroundings = {
  readonly cumulative: CumulativeOutputs;
  readonly counts: ReadonlyMap<bigint, AmountCount>;
};

/**
 * Picks candidates: those requested before and some more. In later attempts the new ones are tried first, since the
 * earlier ones may be the cause of the failure.
 */
function drawCandidates(
  input: OwnedOutput,
  { cumulative, counts, attempt }: Surroundings & { readonly attempt: number },
  { memory, random, source }: Pick<RingRequest, "memory" | "random" | "source">,
): Candidates {
  const knownIndices = memory.ringOf(toHex(input.oneTimeKey)) ?? [];
  const isRing = knownIndices.length === RING_SIZE;
  const available = counts.get(input.amount);
  const isVisible = !input.rct && available !== undefined;
  const unlocked = input.rct ? spendableOutputCount(cumulative) : (available?.unlocked ?? 0);
  const earlierRing = knownIndices.filter((index) => index < unlocked);
  const usual = isVisible ? VISIBLE_CANDIDATES : CANDIDATES;
  const wantedCount = Math.max(usual, earlierRing.length + usual - RING_SIZE);
  const count = Math.min(
    wantedCount,
    earlierRing.length + Math.max(0, MOST_CANDIDATES - knownIndices.length),
  );
  const ringRequest = { real: realIndexOf(input), earlierRing, count };
  const picked = isVisible
    ? pickVisibleCandidates({ ...ringRequest, available }, random)
    : pickCandidates({ ...ringRequest, cumulative }, random);
  const ringToKeep = isRing && !source.isTrusted ? knownIndices : [];
  const before = new Set(knownIndices);
  const fresh = picked.filter((index) => !before.has(index));
  const requested = [...knownIndices, ...fresh];
  const isFreshFirst = attempt > 0 && ringToKeep.length === 0;
  const indices = isFreshFirst ? [...fresh, ...picked.filter((index) => before.has(index))] : picked;
  return { input, requested, indices, areNews: !isRing && fresh.length > 0, ringToKeep };
}

async function drawRings(
  request: RingRequest,
  surroundings: Surroundings & { readonly attempt: number },
): Promise<Ring[]> {
  const { inputs, source, memory } = request;
  const candidates = inputs.map((input) => drawCandidates(input, surroundings, request));
  // In ascending order: the node must not learn the order of picking, which shows the real output.
  const names = candidates.flatMap(({ input, requested }) =>
    requested.toSorted((a, b) => a - b).map((globalIndex) => ({ amount: listedAmount(input), globalIndex })),
  );
  // Whatever comes of it, the node has been asked for these: questions that have only the real output in common show it.
  const asked = candidates
    .filter(({ areNews }) => areNews)
    .map(({ input, requested }) => [toHex(input.oneTimeKey), requested] as const);
  const memoryWrite = asked.length > 0 ? memory.remember(asked) : undefined;
  const [answerOf] = await Promise.all([fetchOutputs(source, names), memoryWrite]);
  const likely = candidates.flatMap((each) => {
    const answers = othersOf(each).flatMap((index) => answerOf(listedAmount(each.input), index) ?? []);
    return answers.filter(({ unlocked }) => unlocked).slice(0, RING_SIZE - 1);
  });
  const isUsable = await usabilityOf(likely, request.threads);
  return mapPatiently(candidates, (each) => chooseMembers(each, answerOf, isUsable));
}

/** Requests the number of RingCT outputs, and checks it against the wallet's data. */
async function lookAtHidden(
  inputs: readonly OwnedOutput[],
  source: OutputSource,
): Promise<CumulativeOutputs> {
  if (inputs.length === 0) return [];
  const counts = await source.hiddenCounts();
  const { cumulative } = counts;
  const newest = Math.max(...inputs.map(realIndexOf));
  if (cumulative.length <= 10) throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "Not enough rct outputs");
  if ((cumulative.at(-1) ?? 0) <= newest)
    throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "Daemon reports suspicious number of rct outputs");
  if (!inputs.every((input) => agreesWith(counts, input)))
    throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "Daemon reports rct outputs other than those scanned");
  return cumulative;
}

/** Requests the number of outputs of each public amount, and checks it. */
async function lookAtVisible(
  inputs: readonly OwnedOutput[],
  source: OutputSource,
): Promise<Surroundings["counts"]> {
  const amounts = [...new Set(inputs.map(({ amount }) => amount))].sort((a, b) => (a < b ? -1 : 1));
  if (amounts.length === 0) return new Map();
  const counts = await source.visibleCounts(amounts);
  for (const amount of amounts) {
    const { unlocked, recent } = counts.get(amount) ?? { unlocked: 0, recent: 0 };
    const refuse = (what: string): never => {
      throw new WalletRefusal("GENERIC_TRANSFER_ERROR", `histogram reports ${what}`);
    };
    if (unlocked === 0) refuse(`no unlocked outputs for ${amount}, not even ours`);
    if (recent > unlocked) refuse(`more recent outs than outs for ${amount}`);
  }
  return counts;
}

const indicesOf = ({ members }: Ring): number[] => members.map(({ globalIndex }) => globalIndex);

/**
 * Creates a ring for every input and stores it in `memory`. Throws `WalletRefusal` if the node has too few outputs or
 * contradicts the wallet's data, and if it would get another ring of an output than before without being trusted.
 */
export async function createRings(request: RingRequest): Promise<Ring[]> {
  const { inputs, source, memory } = request;
  const hidden = inputs.filter(({ rct }) => rct);
  const visible = inputs.filter(({ rct }) => !rct);
  const cumulative = await lookAtHidden(hidden, source);
  const surroundings = { cumulative, counts: await lookAtVisible(visible, source) };
  for (let attempt = 0; attempt < ATTEMPTS; ++attempt) {
    const rings = await drawRings(request, { ...surroundings, attempt });
    const ofHidden = rings.filter((_, i) => inputs[i]!.rct);
    if (looksNormal(ofHidden, cumulative.at(-1) ?? 0)) {
      await memory.remember(rings.map((ring, i) => [toHex(inputs[i]!.oneTimeKey), indicesOf(ring)]));
      return rings;
    }
  }
  throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "Transaction sanity check failed");
}
