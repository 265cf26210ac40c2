/**
 * Creates a proof of funds, some outputs at a time; many are proven in threads. Source: wallet2.cpp `get_reserve_proof`.
 */
import type { RandomSource } from "@anulo/crypto";
import { TimeSlice } from "@anulo/limits";
import {
  concatBytes,
  encode,
  encodeBase58,
  type ReserveProofEntry,
  reserveProofEntry,
  reserveProofSpendKey,
  varint,
} from "@anulo/protocol";
import { mapped } from "../lists.ts";
import type { OutputBook } from "../outputs/output-book.ts";
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import { createMoveCheck, outputsAt } from "../outputs/walk.ts";
import type { Runtime } from "../runtime.ts";
import type { SpendKeys } from "../state.ts";
import { inBulk } from "../transfer/random.ts";
import {
  outputToProve,
  type Proving,
  prefixHashOf,
  proveOutputs,
  proveSpendKey,
  RESERVE_PROOF_HEADER,
} from "./reserve-proof.ts";

/** Proving up to this many outputs takes less time than sending them to a thread. */
const FEW = 16;
/** Random bytes requested from the system at once, at most. */
const MAX_RANDOM_BYTES = 64 * 1024;
const BASE58_BLOCK_BYTES = 8;

/** Outputs of a wallet, by their places, whose key images are known. */
export type OutputsToProve = { readonly outputs: OutputBook; readonly places: Uint32Array };

export type ReserveProver = {
  readonly keys: SpendKeys;
  readonly message: Uint8Array;
  readonly runtime: Pick<Runtime, "threads" | "random">;
};

/** The text of a proof, in parts that are made as they are asked for. Throws `OutputsMoved`. */
export async function* proveReserve(
  proven: OutputsToProve,
  { keys, message, runtime }: ReserveProver,
): AsyncGenerator<string, void> {
  const { outputs, places } = proven;
  const slice = new TimeSlice();
  const check = createMoveCheck(outputs);
  const images = imagesOf(proven);
  const proving = { keys, prefixHash: await prefixHashOf(message, keys, images) };
  check();
  const addresses = await addressesOf(proven, slice);
  const randomBytes = 32 * (2 * Math.min(places.length, FEW) + addresses.length);
  const random = inBulk(runtime.random, Math.min(randomBytes, MAX_RANDOM_BYTES));
  const entries =
    places.length <= FEW ? provenHere(proven, proving, random) : provenInThreads(proven, proving, runtime);
  yield RESERVE_PROOF_HEADER;
  let rest: Uint8Array = encode(varint, places.length);
  const lettersOf = (bytes: Uint8Array): string => {
    const all = concatBytes(rest, bytes);
    const whole = all.length - (all.length % BASE58_BLOCK_BYTES);
    rest = all.subarray(whole);
    return encodeBase58(all.subarray(0, whole));
  };
  for await (const some of entries) {
    yield lettersOf(concatBytes(...some.map((entry) => encode(reserveProofEntry, entry))));
    if (slice.isOver) await slice.yield();
  }
  yield lettersOf(encode(varint, addresses.length));
  for (const index of addresses) {
    yield lettersOf(encode(reserveProofSpendKey, proveSpendKey(index, proving, random)));
    if (slice.isOver) await slice.yield();
  }
  yield encodeBase58(rest);
}

function* imagesOf({ outputs, places }: OutputsToProve): Generator<Uint8Array, void> {
  for (const some of outputsAt(outputs, places)) for (const { keyImage } of some) yield keyImage!;
}

/** The primary address is always included, since it identifies the wallet. */
async function addressesOf(
  { outputs, places }: OutputsToProve,
  slice: TimeSlice,
): Promise<readonly SubaddressIndex[]> {
  const primary = { major: 0, minor: 0 };
  const addresses = new Map<string, SubaddressIndex>([["0/0", primary]]);
  const check = createMoveCheck(outputs);
  for (const place of places) {
    check();
    const { subaddress } = outputs.hotAt(place);
    addresses.set(`${subaddress.major}/${subaddress.minor}`, subaddress);
    if (slice.isOver) await slice.yield();
  }
  return [...addresses.values()];
}

type Entries = readonly ReserveProofEntry[];

async function* provenHere(
  { outputs, places }: OutputsToProve,
  proving: Proving,
  random: RandomSource,
): AsyncGenerator<Entries, void> {
  for (const some of outputsAt(outputs, places)) yield proveOutputs(some, proving, random);
}

function provenInThreads(
  { outputs, places }: OutputsToProve,
  proving: Proving,
  { threads }: Pick<Runtime, "threads">,
): AsyncGenerator<Entries, void> {
  const lists = mapped(outputsAt(outputs, places), (some) => some.map(outputToProve));
  return threads.mapLists("proveReserve", lists, proving);
}
