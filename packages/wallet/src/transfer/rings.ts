/** Rings for outputs about to be spent. Source: wallet2.cpp `get_outs`, `tx_add_fake_output`, tx_sanity_check.cpp. */
import { commit, isInMainSubgroup, type RandomSource } from "@anulo/crypto";
import { equalBytes, toHex } from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import type { OwnedOutput } from "../state.ts";
import { type CumulativeOutputs, pickCandidates, spendableOutputCount } from "./decoys.ts";
import { shuffled } from "./random.ts";
import { RING_SIZE, type Ring, type RingMember } from "./stages.ts";

/** One and a half rings, and as many again as there may be young coinbase outputs, which are locked for longer. */
const CANDIDATES = Math.floor(RING_SIZE * 1.5 + 1) + 60 - 10;
/** Outputs asked for in one call. */
const OUTPUTS_PER_CALL = 1000;
const ATTEMPTS = 3;

/** An output as the node describes it. */
export type NodeOutput = {
  readonly key: Uint8Array;
  readonly commitment: Uint8Array;
  readonly unlocked: boolean;
};

/** What rings need from the node. */
export type OutputSource = {
  cumulativeOutputs(): Promise<CumulativeOutputs>;
  /** One answer for each global index, in order. */
  outputs(globalIndices: readonly number[]): Promise<readonly NodeOutput[]>;
};

/**
 * Rings in which this wallet has shown an output before, by hex one-time key: global indices. An output shown in two
 * different rings would be their only common member.
 */
export type RingMemory = Map<string, readonly number[]>;

export type RingRequest = {
  readonly inputs: readonly OwnedOutput[];
  readonly source: OutputSource;
  readonly memory: RingMemory;
  readonly random: RandomSource;
};

type Candidates = {
  readonly input: OwnedOutput;
  readonly earlierRing: readonly number[];
  readonly indices: readonly number[];
};

const realIndexOf = (input: OwnedOutput): number => Number(input.globalIndex);

async function fetchOutputs(
  source: OutputSource,
  indices: readonly number[],
): Promise<Map<number, NodeOutput>> {
  const found = new Map<number, NodeOutput>();
  for (let at = 0; at < indices.length; at += OUTPUTS_PER_CALL) {
    const part = indices.slice(at, at + OUTPUTS_PER_CALL);
    const outputs = await source.outputs(part);
    if (outputs.length !== part.length)
      throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "daemon returned wrong response for get_outs.bin");
    for (const [i, output] of outputs.entries()) found.set(part[i]!, output);
  }
  return found;
}

/** A node that lies about the real output could tell it from the decoys later: it must answer what the wallet knows. */
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

function isUsable(output: NodeOutput): boolean {
  return output.unlocked && isInMainSubgroup(output.key) && isInMainSubgroup(output.commitment);
}

/** The real output, the earlier ring's others, then candidates in random order until the ring is full. */
function chooseMembers(candidates: Candidates, answers: Map<number, NodeOutput>, random: RandomSource): Ring {
  const { input, earlierRing, indices } = candidates;
  const real = realIndexOf(input);
  const members = [checkRealOutput(input, answers.get(real))];
  const others = [...earlierRing, ...shuffled(indices, random)];
  for (const globalIndex of new Set(others)) {
    if (members.length === RING_SIZE) break;
    const answer = answers.get(globalIndex);
    if (globalIndex === real || answer === undefined || !isUsable(answer)) continue;
    members.push({ globalIndex, key: answer.key, commitment: answer.commitment });
  }
  if (members.length < RING_SIZE)
    throw new WalletRefusal("NOT_ENOUGH_OUTS_TO_MIX", "not enough outputs to use Please use sweep_dust.");
  members.sort((a, b) => a.globalIndex - b.globalIndex);
  return { members, realIndex: members.findIndex(({ globalIndex }) => globalIndex === real) };
}

/** Whether a node that checks transactions for odd rings would take these. Source: `tx_sanity_check`. */
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

async function drawRings(request: RingRequest, cumulative: CumulativeOutputs): Promise<Ring[]> {
  const { inputs, source, memory, random } = request;
  const candidates = inputs.map((input): Candidates => {
    const earlierRing = memory.get(toHex(input.oneTimeKey)) ?? [];
    const real = realIndexOf(input);
    const indices = pickCandidates({ cumulative, real, earlierRing, count: CANDIDATES }, random);
    return {
      input,
      earlierRing: earlierRing.filter((index) => index < spendableOutputCount(cumulative)),
      indices,
    };
  });
  const answers = await fetchOutputs(source, [...candidates.flatMap(({ indices }) => indices)]);
  return candidates.map((each) => chooseMembers(each, answers, random));
}

/**
 * A ring for every input (RingCT outputs), remembered in `memory`. Throws `WalletRefusal` when
 * the node has too few outputs or contradicts what the wallet knows.
 */
export async function createRings(request: RingRequest): Promise<Ring[]> {
  const { inputs, source, memory } = request;
  const cumulative = await source.cumulativeOutputs();
  const outputCount = cumulative.at(-1) ?? 0;
  const newest = Math.max(...inputs.map(realIndexOf));
  if (cumulative.length <= 10) throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "Not enough rct outputs");
  if (outputCount <= newest)
    throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "Daemon reports suspicious number of rct outputs");
  for (let attempt = 0; attempt < ATTEMPTS; ++attempt) {
    const rings = await drawRings(request, cumulative);
    if (looksNormal(rings, outputCount)) {
      for (const [i, { members }] of rings.entries())
        memory.set(
          toHex(inputs[i]!.oneTimeKey),
          members.map(({ globalIndex }) => globalIndex),
        );
      return rings;
    }
    for (const { oneTimeKey } of inputs) memory.delete(toHex(oneTimeKey));
  }
  throw new WalletRefusal("GENERIC_TRANSFER_ERROR", "Transaction sanity check failed");
}
