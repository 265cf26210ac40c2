/** Fields of a keys file that only a multisig wallet has. Source: wallet2.cpp `get_keys_file_data`. */
import { BadBytes, bytes32, type Codec, decode, encode, list } from "@anulo/protocol";
import type { Json } from "@anulo/rpc";
import type { MultisigPart } from "../state.ts";

const keyList: Codec<Uint8Array[]> = list(bytes32);

/** Keys as text, one character per byte. */
const formatKeys = (keys: readonly Uint8Array[]) =>
  Buffer.from(encode(keyList, [...keys])).toString("latin1");

/** The fields, none for an ordinary wallet. */
export function formatMultisigSettings(multisig: MultisigPart | undefined): [string, Json][] {
  if (multisig === undefined) return [];
  const { threshold, signers, roundKeys, roundsComplete } = multisig;
  return [
    ["multisig", 1],
    ["multisig_threshold", threshold],
    ["multisig_signers", formatKeys(signers)],
    ["multisig_derivations", formatKeys(roundKeys)],
    ["multisig_rounds_passed", roundsComplete],
  ];
}

/** Parses the fields; undefined for an ordinary wallet. Throws `BadBytes`. */
export function multisigOfSettings(
  json: ReadonlyMap<string, Json>,
): Omit<MultisigPart, "shares"> | undefined {
  if (json.get("multisig") !== 1) return undefined;
  return {
    threshold: count(json.get("multisig_threshold")),
    signers: keys(json.get("multisig_signers")),
    roundKeys: json.has("multisig_derivations") ? keys(json.get("multisig_derivations")) : [],
    roundsComplete: count(json.get("multisig_rounds_passed")),
  };
}

function count(value: Json | undefined): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw new BadBytes("no count");
  return value;
}

function keys(value: Json | undefined): Uint8Array[] {
  if (typeof value !== "string") throw new BadBytes("no keys");
  return decode(keyList, Buffer.from(value, "latin1"));
}
