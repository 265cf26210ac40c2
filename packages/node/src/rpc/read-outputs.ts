import { type UnlockContext, unlockRule } from "@anulo/consensus";
import { type MaybePromise, whenReady } from "@anulo/limits";
import { columns } from "@anulo/rpc";
import { OutputBatch } from "@anulo/storage";
import type { ChainCallContext } from "./chain-call-context.ts";
import { atThisMoment, mapInTurns } from "./in-turns.ts";

const RESTRICTED_OUTPUTS = 5000;

interface OutputsRequest {
  readonly outputs: readonly { readonly amount: bigint; readonly index: bigint }[];
  readonly get_txid: boolean;
}

/** Outputs side by side, and whether each may be spent (0 or 1). */
interface FoundOutputs {
  readonly batch: OutputBatch;
  readonly unlocked: Uint8Array;
}

/** So many are read without letting others go first: the rings of one payment, and well below a millisecond. */
const FEW_OUTPUTS = 320;

/** The requested outputs, or the status with the reason. Source: blockchain.cpp `get_outs`. */
function findOutputs(
  request: OutputsRequest,
  context: ChainCallContext,
): MaybePromise<FoundOutputs | string> {
  const { outputs, get_txid: withTransactionHashes } = request;
  const { parts, restricted, signal, rows } = context;
  if (restricted && outputs.length > RESTRICTED_OUTPUTS) return "Too many outs requested";
  const { store } = parts;
  const batch = new OutputBatch(outputs.length, { withTransactionHashes });
  const readAll = (): MaybePromise<boolean> => {
    if (outputs.length <= FEW_OUTPUTS)
      return outputs.every((output, at) => store.read.readIntoBatch(batch, at, output));
    return atThisMoment(store, (moment) => {
      const readOne = (at: number) => moment.read.readIntoBatch(batch, at, outputs[at]!);
      const read = mapInTurns(outputs.keys(), readOne, { moment, signal, rows });
      return whenReady(read, (presence) => presence.every((isFound) => isFound));
    });
  };
  return whenReady(
    store.prefetch(() => ({ outputs }), { signal, isStranger: restricted }),
    () => {
      const rules = { chain: parts.state.view(), now: parts.now() };
      return whenReady(readAll(), (isComplete) =>
        isComplete ? { batch, unlocked: unlockedOf(batch.unlockTimes, rules) } : "Failed",
      );
    },
  );
}

/** Which of these may be spent (0 or 1). */
function unlockedOf(unlockTimes: Float64Array, rules: UnlockContext): Uint8Array {
  const unlocked = new Uint8Array(unlockTimes.length);
  const isUnlocked = unlockRule(rules);
  for (let i = 0; i < unlocked.length; i++) unlocked[i] = isUnlocked(unlockTimes[i]!) ? 1 : 0;
  return unlocked;
}

/** Answers `/get_outs`. */
export function getOutputs(request: OutputsRequest, context: ChainCallContext) {
  return whenReady(findOutputs(request, context), (outputs) => {
    if (typeof outputs === "string") return { status: outputs, outs: [] };
    const { heights: height, keys: key, commitments: mask, transactionHashes: txid } = outputs.batch;
    const { unlocked } = outputs;
    return {
      outs: columns(outputs.batch.length, { height, key, mask, unlocked, ...(txid && { txid }) }),
    };
  });
}

/** Answers `/get_outs.bin`. */
export function getBinaryOutputs(request: OutputsRequest, context: ChainCallContext) {
  return whenReady(findOutputs(request, context), (outputs) => {
    if (typeof outputs === "string") return { status: outputs, outs: [] };
    const { heights: height, keys: key, commitments: mask, length } = outputs.batch;
    const txid = outputs.batch.transactionHashes ?? new Uint8Array(key.length);
    return { outs: columns(length, { height, key, mask, unlocked: outputs.unlocked, txid }) };
  });
}
