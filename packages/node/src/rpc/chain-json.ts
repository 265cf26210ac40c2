import type {
  Block,
  ConfidentialRingCt,
  RingCtPrunable,
  Transaction,
  TxInput,
  TxTarget,
} from "@anulo/protocol";
import {
  type ArchiveObject,
  type ArchiveValue,
  archiveText,
  counted,
  object,
  vector,
} from "./archive-json.ts";

/** Text of a transaction as `as_json` has it; of a pruned one without what is missing. */
export function transactionJson(tx: Transaction, { pruned = false } = {}): string {
  return archiveText(transactionObject(tx, pruned));
}

/** Text of a block as `json` has it. */
export function blockJson({ header, minerTransaction, transactionHashes }: Block): string {
  return archiveText(
    object(
      ["major_version", header.majorVersion],
      ["minor_version", header.minorVersion],
      ["timestamp", header.timestamp],
      ["prev_id", header.previousId],
      ["nonce", header.nonce],
      ["miner_tx", transactionObject(minerTransaction, false)],
      ["tx_hashes", vector(transactionHashes)],
    ),
  );
}

/** Source: cryptonote_basic.h `transaction`, ringct/rctTypes.h. */
function transactionObject(tx: Transaction, pruned: boolean): ArchiveObject {
  const { prefix } = tx;
  return object(
    ["version", prefix.version],
    ["unlock_time", prefix.unlockTime],
    ["vin", vector(prefix.inputs.map(inputObject))],
    [
      "vout",
      vector(
        prefix.outputs.map(({ amount, target }) =>
          object(["amount", amount], ["target", targetObject(target)]),
        ),
      ),
    ],
    ["extra", vector([...prefix.extra])],
    ...proofFields(tx, pruned),
  );
}

function proofFields({ prefix, signatures, ringct }: Transaction, pruned: boolean): ArchiveObject["fields"] {
  if (prefix.version === 1) {
    return pruned ? [] : [["signatures", counted(signatures.filter((row) => row.length > 0).map(vector))]];
  }
  if (ringct === undefined || ringct.type === 0) return [["rct_signatures", object(["type", 0])]];
  const base = ["rct_signatures", ringCtBase(ringct)] as const;
  if (pruned || ringct.prunable === undefined) return [base];
  return [base, ["rctsig_prunable", prunableObject(ringct, ringct.prunable)]];
}

function inputObject(input: TxInput): ArchiveObject {
  switch (input.type) {
    case "generation":
      return object(["gen", object(["height", input.height])]);
    case "key":
      return object([
        "key",
        object(
          ["amount", input.amount],
          ["key_offsets", vector(input.keyOffsets)],
          ["k_image", input.keyImage],
        ),
      ]);
    case "script":
      return object([
        "script",
        object(["prev", input.prev], ["prevout", input.prevout], ["sigset", vector([...input.sigset])]),
      ]);
    case "scriptHash":
      return object([
        "scripthash",
        object(
          ["prev", input.prev],
          ["prevout", input.prevout],
          ["script", scriptObject(input.script)],
          ["sigset", vector([...input.sigset])],
        ),
      ]);
  }
}

function scriptObject(script: { readonly keys: readonly Uint8Array[]; readonly script: Uint8Array }) {
  return object(["keys", vector(script.keys)], ["script", vector([...script.script])]);
}

function targetObject(target: TxTarget): ArchiveObject {
  switch (target.type) {
    case "key":
      return object(["key", target.key]);
    case "taggedKey":
      return object(["tagged_key", object(["key", target.key], ["view_tag", Uint8Array.of(target.viewTag)])]);
    case "script":
      return object(["script", scriptObject(target)]);
    case "scriptHash":
      return object(["scripthash", target.hash]);
  }
}

function ringCtBase({
  type,
  fee,
  pseudoOuts,
  ecdhInfo,
  outputCommitments,
}: ConfidentialRingCt): ArchiveObject {
  const amounts = ecdhInfo.map((info) =>
    "mask" in info ? object(["mask", info.mask], ["amount", info.amount]) : object(["amount", info.amount]),
  );
  const simple: ArchiveObject["fields"] = type === 2 ? [["pseudoOuts", counted(pseudoOuts)]] : [];
  return object(
    ["type", type],
    ["txnFee", fee],
    ...simple,
    ["ecdhInfo", counted(amounts)],
    ["outPk", counted(outputCommitments)],
  );
}

function prunableObject({ type, pseudoOuts }: ConfidentialRingCt, prunable: RingCtPrunable): ArchiveObject {
  const { clsags, mgs } = prunable;
  const signatures: ArchiveObject["fields"] =
    type >= 5
      ? [["CLSAGs", counted(clsags.map(({ s, c1, D }) => object(["s", counted(s)], ["c1", c1], ["D", D])))]]
      : [["MGs", counted(mgs.map(({ ss, cc }) => object(["ss", counted(ss.map(counted))], ["cc", cc])))]];
  const last: ArchiveObject["fields"] = type >= 3 ? [["pseudoOuts", counted(pseudoOuts)]] : [];
  return object(...rangeProofs(type, prunable), ...signatures, ...last);
}

function rangeProofs(type: ConfidentialRingCt["type"], prunable: RingCtPrunable): ArchiveObject["fields"] {
  const { rangeSigs, bulletproofs, bulletproofsPlus } = prunable;
  if (type === 6) {
    const proofs = bulletproofsPlus.map(({ A, A1, B, r1, s1, d1, L, R }) =>
      named({ A, A1, B, r1, s1, d1, L: vector(L), R: vector(R) }),
    );
    return [
      ["nbp", proofs.length],
      ["bpp", counted(proofs)],
    ];
  }
  if (type >= 3) {
    const proofs = bulletproofs.map(({ A, S, T1, T2, taux, mu, L, R, a, b, t }) =>
      named({ A, S, T1, T2, taux, mu, L: vector(L), R: vector(R), a, b, t }),
    );
    return [
      ["nbp", proofs.length],
      ["bp", counted(proofs)],
    ];
  }
  const signatures = rangeSigs.map(({ s0, s1, ee, Ci }) => named({ asig: named({ s0, s1, ee }), Ci }));
  return [["rangeSigs", counted(signatures)]];
}

function named(fields: Readonly<Record<string, ArchiveValue>>): ArchiveObject {
  return { fields: Object.entries(fields) };
}
