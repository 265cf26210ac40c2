import { INVERSE_OF_EIGHT, scalarMult } from "@anulo/crypto";
import {
  type Bulletproof,
  type BulletproofPlus,
  type ConfidentialRingCt,
  type RangeSignature,
  type RingCt,
  type RingCtPrunable,
  ringCtTypes,
  type Transaction,
  type TxInput,
  type TxTarget,
  toHex,
} from "@anulo/protocol";

/**
 * Transactions as ZeroMQ shows them: other names than in `as_json`, and no white space.
 * Source: serialization/json_object.cpp `toJsonValue`.
 */

/** Named values, each JSON text already. */
export function object(...fields: readonly (readonly [string, string])[]): string {
  return `{${fields.map(([name, value]) => `"${name}":${value}`).join(",")}}`;
}

/** Texts of JSON as a list. */
export function list(items: readonly string[]): string {
  return `[${items.join(",")}]`;
}

/** Bytes as text. */
export function hex(bytes: Uint8Array): string {
  return `"${toHex(bytes)}"`;
}

/** Ids, keys or scalars. */
export function hexes(items: readonly Uint8Array[]): string {
  return list(items.map(hex));
}

type ScriptOutput = { readonly keys: readonly Uint8Array[]; readonly script: Uint8Array };
const script = (value: ScriptOutput) => object(["keys", hexes(value.keys)], ["script", hex(value.script)]);

function inputJson(input: TxInput): string {
  switch (input.type) {
    case "generation":
      return object(["gen", object(["height", `${input.height}`])]);
    case "key":
      return object([
        "to_key",
        object(
          ["amount", `${input.amount}`],
          ["key_offsets", list(input.keyOffsets.map(String))],
          ["key_image", hex(input.keyImage)],
        ),
      ]);
    case "script":
      return object([
        "to_script",
        object(["prev", hex(input.prev)], ["prevout", `${input.prevout}`], ["sigset", hex(input.sigset)]),
      ]);
    case "scriptHash":
      return object([
        "to_scripthash",
        object(
          ["prev", hex(input.prev)],
          ["prevout", `${input.prevout}`],
          ["script", script(input.script)],
          ["sigset", hex(input.sigset)],
        ),
      ]);
  }
}

function targetField(target: TxTarget): readonly [string, string] {
  switch (target.type) {
    case "key":
      return ["to_key", object(["key", hex(target.key)])];
    case "taggedKey": {
      const tag = hex(Uint8Array.of(target.viewTag));
      return ["to_tagged_key", object(["key", hex(target.key)], ["view_tag", tag])];
    }
    case "script":
      return ["to_script", script(target)];
    case "scriptHash":
      return ["to_scripthash", object(["hash", hex(target.hash)])];
  }
}

/** 32-byte scalars or points that stand one after another. */
function divided(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: bytes.length / 32 }, (_, i) => bytes.subarray(32 * i, 32 * (i + 1)));
}

function rangeProofJson({ s0, s1, ee, Ci }: RangeSignature): string {
  const asig = object(["s0", hexes(divided(s0))], ["s1", hexes(divided(s1))], ["ee", hex(ee)]);
  return object(["asig", asig], ["Ci", hexes(divided(Ci))]);
}

function hexFields<K extends string>(value: { readonly [N in K]: Uint8Array }, names: readonly K[]) {
  return names.map((name) => [name, hex(value[name])] as const);
}

/** The commitments a proof is about are not among its bytes: they are those of the outputs, divided by 8. */
function provenCommitments({ outputCommitments }: ConfidentialRingCt): string {
  return hexes(outputCommitments.map((commitment) => scalarMult(INVERSE_OF_EIGHT, commitment)));
}

function bulletproofJson(proof: Bulletproof, commitments: string): string {
  return object(
    ["V", commitments],
    ...hexFields(proof, ["A", "S", "T1", "T2", "taux", "mu"]),
    ["L", hexes(proof.L)],
    ["R", hexes(proof.R)],
    ...hexFields(proof, ["a", "b", "t"]),
  );
}

function bulletproofPlusJson(proof: BulletproofPlus, commitments: string): string {
  return object(
    ["V", commitments],
    ...hexFields(proof, ["A", "A1", "B", "r1", "s1", "d1"]),
    ["L", hexes(proof.L)],
    ["R", hexes(proof.R)],
  );
}

function prunableJson(ringct: ConfidentialRingCt, prunable: RingCtPrunable): string {
  const { rangeSigs, bulletproofs, bulletproofsPlus, mgs, clsags } = prunable;
  const commitments = bulletproofs.length + bulletproofsPlus.length > 0 ? provenCommitments(ringct) : "[]";
  return object(
    ["range_proofs", list(rangeSigs.map(rangeProofJson))],
    ["bulletproofs", list(bulletproofs.map((proof) => bulletproofJson(proof, commitments)))],
    ["bulletproofs_plus", list(bulletproofsPlus.map((proof) => bulletproofPlusJson(proof, commitments)))],
    ["mlsags", list(mgs.map(({ ss, cc }) => object(["ss", list(ss.map(hexes))], ["cc", hex(cc)])))],
    ["clsags", list(clsags.map(({ s, c1, D }) => object(["s", hexes(s)], ["c1", hex(c1)], ["D", hex(D)])))],
    ["pseudo_outs", hexes(ringct.pseudoOuts)],
  );
}

/** Amounts of 8 bytes are shown with zeros after them, and a mask of zeros. */
function encryptedJson(info: ConfidentialRingCt["ecdhInfo"][number]): string {
  const mask = "mask" in info ? info.mask : new Uint8Array(32);
  return object(["mask", hex(mask)], ["amount", `"${toHex(info.amount).padEnd(64, "0")}"`]);
}

function ringctJson(ringct: RingCt): string {
  if (ringct.type === ringCtTypes.none) return object(["type", "0"]);
  return object(
    ["type", `${ringct.type}`],
    ["encrypted", list(ringct.ecdhInfo.map(encryptedJson))],
    ["commitments", hexes(ringct.outputCommitments)],
    ["fee", `${ringct.fee}`],
    ...(ringct.prunable === undefined ? [] : [["prunable", prunableJson(ringct, ringct.prunable)] as const]),
  );
}

/** JSON text of a whole transaction. */
export function transactionJson({ prefix, signatures, ringct }: Transaction): string {
  return object(
    ["version", `${prefix.version}`],
    ["unlock_time", `${prefix.unlockTime}`],
    ["inputs", list(prefix.inputs.map(inputJson))],
    [
      "outputs",
      list(prefix.outputs.map(({ amount, target }) => object(["amount", `${amount}`], targetField(target)))),
    ],
    ["extra", hex(prefix.extra)],
    ["signatures", list(signatures.map(hexes))],
    ["ringct", ringctJson(ringct ?? { type: 0 })],
  );
}
