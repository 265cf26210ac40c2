import type { Block } from "./block.ts";
import { toHex } from "./bytes.ts";
import type { ConfidentialRingCt, RingCt, RingCtPrunable } from "./ringct.ts";
import { ringCtTypes } from "./ringct.ts";
import type { Transaction, TxInput, TxTarget } from "./transaction.ts";

/**
 * Transactions and blocks as the JSON text of RPC answers (`as_json`, `json`), equal to the original's in every space.
 * The format is meant for people: byte strings are hexadecimal or lists of numbers, and some lists have a line break
 * before their end, others don't. Source: serialization/json_archive.h; the serializers in cryptonote_basic.h and
 * rctTypes.h.
 */
type Node = string | ObjectNode | ListNode | NumbersNode;
type ObjectNode = { readonly fields: readonly (readonly [name: string, value: Node])[] };
/** A list serialized with its count; others have a length known beforehand. */
type ListNode = { readonly items: readonly Node[]; readonly isCounted: boolean };
/** A list of numbers whose text exists already: most elements of a transaction are in such lists. */
type NumbersNode = { readonly numbers: string; readonly count: number };

const object = (...fields: ObjectNode["fields"]): ObjectNode => ({ fields });
const counted = (items: readonly Node[]): ListNode => ({ items, isCounted: true });
const listOf = (items: readonly Node[]): ListNode => ({ items, isCounted: false });
const hex = (bytes: Uint8Array): string => `"${toHex(bytes)}"`;
const hexes = (values: readonly Uint8Array[]): string[] => values.map(hex);
/** The text of every byte behind another one. */
const nextByteTexts = Array.from({ length: 256 }, (_, byte) => `, ${byte}`);

function numbers(bytes: Uint8Array): NumbersNode {
  let text = bytes.length === 0 ? "" : String(bytes[0]);
  for (let i = 1; i < bytes.length; i++) text += nextByteTexts[bytes[i]!]!;
  return { numbers: text, count: bytes.length };
}

/**
 * Formats a node; `lastCount` is that of the list begun last, which decides whether a list has a line break before its
 * end.
 */
class Printer {
  #text = "";
  #lastCount = 0;

  #print(node: Node, depth: number): void {
    if (typeof node === "string") this.#text += node;
    else if ("fields" in node) this.#printObject(node, depth);
    else if ("items" in node) this.#printList(node, depth);
    else this.#printNumbers(node, depth);
  }

  #printObject({ fields }: ObjectNode, depth: number): void {
    this.#text += "{";
    let before = `${newLine(depth + 1)}"`;
    const next = `, ${before}`;
    for (const [name, value] of fields) {
      this.#text += `${before}${name}": `;
      this.#print(value, depth + 1);
      before = next;
    }
    this.#text += `${newLine(depth)}}`;
  }

  #printList({ items, isCounted }: ListNode, depth: number): void {
    this.#lastCount = isCounted ? items.length : 0;
    this.#text += "[ ";
    for (let i = 0; i < items.length; i++) {
      if (i > 0) this.#text += ", ";
      this.#print(items[i]!, depth + 1);
    }
    this.#endList(depth);
  }

  #printNumbers({ numbers, count }: NumbersNode, depth: number): void {
    this.#lastCount = count;
    this.#text += `[ ${numbers}`;
    this.#endList(depth);
  }

  #endList(depth: number): void {
    this.#text += this.#lastCount > 0 ? `${newLine(depth)}]` : "]";
  }

  print(node: Node): string {
    this.#print(node, 0);
    return this.#text;
  }
}

/** Deeper than any transaction. */
const MAX_DEPTH = 16;
const newLines = Array.from({ length: MAX_DEPTH }, (_, depth) => `\n${"  ".repeat(depth)}`);

function newLine(depth: number): string {
  return newLines[depth]!;
}

type ScriptOutput = { readonly keys: readonly Uint8Array[]; readonly script: Uint8Array };
const script = (value: ScriptOutput) =>
  object(["keys", counted(hexes(value.keys))], ["script", numbers(value.script)]);

function inputNode(input: TxInput): Node {
  switch (input.type) {
    case "generation":
      return object(["gen", object(["height", String(input.height)])]);
    case "key":
      return object([
        "key",
        object(
          ["amount", String(input.amount)],
          ["key_offsets", counted(input.keyOffsets.map(String))],
          ["k_image", hex(input.keyImage)],
        ),
      ]);
    case "script":
      return object([
        "script",
        object(
          ["prev", hex(input.prev)],
          ["prevout", String(input.prevout)],
          ["sigset", numbers(input.sigset)],
        ),
      ]);
    case "scriptHash":
      return object([
        "scripthash",
        object(
          ["prev", hex(input.prev)],
          ["prevout", String(input.prevout)],
          ["script", script(input.script)],
          ["sigset", numbers(input.sigset)],
        ),
      ]);
  }
}

function targetNode(target: TxTarget): Node {
  switch (target.type) {
    case "key":
      return object(["key", hex(target.key)]);
    case "taggedKey":
      return object([
        "tagged_key",
        object(["key", hex(target.key)], ["view_tag", hex(Uint8Array.of(target.viewTag))]),
      ]);
    case "script":
      return object(["script", script(target)]);
    case "scriptHash":
      return object(["scripthash", hex(target.hash)]);
  }
}

function prefixFields({ prefix }: Transaction): ObjectNode["fields"] {
  return [
    ["version", String(prefix.version)],
    ["unlock_time", String(prefix.unlockTime)],
    ["vin", counted(prefix.inputs.map(inputNode))],
    [
      "vout",
      counted(
        prefix.outputs.map(({ amount, target }) =>
          object(["amount", String(amount)], ["target", targetNode(target)]),
        ),
      ),
    ],
    ["extra", numbers(prefix.extra)],
  ];
}

function baseNode(ringct: RingCt): Node {
  if (ringct.type === ringCtTypes.none) return object(["type", "0"]);
  const pseudoOuts = [["pseudoOuts", listOf(hexes(ringct.pseudoOuts))]] as const;
  const ecdhInfo = ringct.ecdhInfo.map((info) =>
    "mask" in info
      ? object(["mask", hex(info.mask)], ["amount", hex(info.amount)])
      : object(["amount", hex(info.amount)]),
  );
  return object(
    ["type", String(ringct.type)],
    ["txnFee", String(ringct.fee)],
    ...(ringct.type === ringCtTypes.simple ? pseudoOuts : []),
    ["ecdhInfo", listOf(ecdhInfo)],
    ["outPk", listOf(hexes(ringct.outputCommitments))],
  );
}

function hexFields<K extends string>(value: { readonly [N in K]: Uint8Array }, names: readonly K[]) {
  return names.map((name) => [name, hex(value[name])] as const);
}

function halves({ L, R }: { readonly L: Uint8Array[]; readonly R: Uint8Array[] }): ObjectNode["fields"] {
  return [
    ["L", counted(hexes(L))],
    ["R", counted(hexes(R))],
  ];
}

function rangeProofFields(type: ConfidentialRingCt["type"], prunable: RingCtPrunable): ObjectNode["fields"] {
  const { rangeSigs, bulletproofs, bulletproofsPlus } = prunable;
  if (type === ringCtTypes.bulletproofPlus) {
    const proofs = bulletproofsPlus.map((proof) =>
      object(...hexFields(proof, ["A", "A1", "B", "r1", "s1", "d1"]), ...halves(proof)),
    );
    return [
      ["nbp", String(proofs.length)],
      ["bpp", listOf(proofs)],
    ];
  }
  if (type >= ringCtTypes.bulletproof) {
    const proofs = bulletproofs.map((proof) =>
      object(
        ...hexFields(proof, ["A", "S", "T1", "T2", "taux", "mu"]),
        ...halves(proof),
        ...hexFields(proof, ["a", "b", "t"]),
      ),
    );
    return [
      ["nbp", String(proofs.length)],
      ["bp", listOf(proofs)],
    ];
  }
  const proofs = rangeSigs.map(({ s0, s1, ee, Ci }) =>
    object(["asig", `"${toHex(s0)}${toHex(s1)}${toHex(ee)}"`], ["Ci", hex(Ci)]),
  );
  return [["rangeSigs", listOf(proofs)]];
}

function signatureField(type: ConfidentialRingCt["type"], { clsags, mgs }: RingCtPrunable) {
  if (type >= ringCtTypes.clsag) {
    const nodes = clsags.map(({ s, c1, D }) =>
      object(["s", listOf(hexes(s))], ["c1", hex(c1)], ["D", hex(D)]),
    );
    return ["CLSAGs", listOf(nodes)] as const;
  }
  const nodes = mgs.map(({ ss, cc }) =>
    object(["ss", listOf(ss.map((row) => listOf(hexes(row))))], ["cc", hex(cc)]),
  );
  return ["MGs", listOf(nodes)] as const;
}

function prunableFields(ringct: RingCt): ObjectNode["fields"] {
  if (ringct.type === ringCtTypes.none || ringct.prunable === undefined) return [];
  const hasPseudoOuts = ringct.type >= ringCtTypes.bulletproof;
  const node = object(
    ...rangeProofFields(ringct.type, ringct.prunable),
    signatureField(ringct.type, ringct.prunable),
    ...(hasPseudoOuts ? [["pseudoOuts", listOf(hexes(ringct.pseudoOuts))] as const] : []),
  );
  return [["rctsig_prunable", node]];
}

/** Version 1: the signatures of an input are joined in one text; an input without a ring has none. */
function signaturesField(signatures: readonly (readonly Uint8Array[])[]): [string, Node] {
  return [
    "signatures",
    listOf(signatures.map((row) => (row.length === 0 ? "" : `"${row.map(toHex).join("")}"`))),
  ];
}

function transactionNode(tx: Transaction): Node {
  const { ringct, signatures, prefix } = tx;
  if (ringct === undefined) {
    const isPruned = signatures.length < prefix.inputs.length;
    return object(...prefixFields(tx), ...(isPruned ? [] : [signaturesField(signatures)]));
  }
  return object(...prefixFields(tx), ["rct_signatures", baseNode(ringct)], ...prunableFields(ringct));
}

/** JSON text of a transaction, whole or pruned, as `as_json` in RPC answers. */
export function describeTransaction(tx: Transaction): string {
  return new Printer().print(transactionNode(tx));
}

/** JSON text of a block, as `json` in RPC answers. */
export function describeBlock({ header, minerTransaction, transactionHashes }: Block): string {
  return new Printer().print(
    object(
      ["major_version", String(header.majorVersion)],
      ["minor_version", String(header.minorVersion)],
      ["timestamp", String(header.timestamp)],
      ["prev_id", hex(header.previousId)],
      ["nonce", String(header.nonce)],
      ["miner_tx", transactionNode(minerTransaction)],
      ["tx_hashes", counted(hexes(transactionHashes))],
    ),
  );
}
