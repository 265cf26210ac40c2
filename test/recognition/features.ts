/** What an observer of the chain sees of a transaction, beside its age. */
import { keyInputs, readTransaction, type Transaction, toHex, transactionWeight } from "@anulo/protocol";

export type Features = {
  /** All that must be the same for the same payment. */
  readonly form: string;
  readonly inputs: number;
  /** Of all rings, the places of the real output and the global indices of all members. */
  readonly rings: readonly { readonly keyImage: string; readonly members: readonly number[] }[];
  readonly outputs: number;
  readonly fee: bigint;
  readonly weight: number;
};

/** Tags and lengths of the fields of `extra`, in order. Source: tx_extra.h. */
function extraForm(extra: Uint8Array): string {
  const fields: string[] = [];
  for (let at = 0; at < extra.length; ) {
    const tag = extra[at]!;
    const told = extra[at + 1] ?? 0;
    const size = new Map([
      [1, 32],
      [2, 1 + told],
      [4, 1 + told * 32],
    ]).get(tag);
    if (size === undefined) return `${fields.join(" ")} ?${toHex(extra.subarray(at))}`;
    fields.push(`${tag}: ${size}${tag === 2 ? ` kind ${extra[at + 2]}` : ""}`);
    at += 1 + size;
  }
  return fields.join(", ");
}

function proofForm({ ringct }: Transaction): unknown {
  if (ringct === undefined || ringct.type === 0 || ringct.prunable === undefined) return "none";
  const { bulletproofs, bulletproofsPlus, clsags, mgs } = ringct.prunable;
  return {
    type: ringct.type,
    old: [bulletproofs.length, mgs.length],
    plus: bulletproofsPlus.map(({ L, R }) => [L.length, R.length]),
    signatures: [...new Set(clsags.map(({ s }) => s.length))],
  };
}

const isAscending = (values: readonly string[]): boolean => values.join() === [...values].sort().join();

export function featuresOf(hex: string): Features {
  const transaction = readTransaction(Buffer.from(hex, "hex"));
  const { prefix, ringct } = transaction;
  const inputs = keyInputs(prefix);
  const rings = inputs.map(({ keyImage, keyOffsets }) => {
    let index = 0;
    return { keyImage: toHex(keyImage), members: keyOffsets.map((offset) => (index += Number(offset))) };
  });
  const fee = ringct === undefined || ringct.type === 0 ? 0n : ringct.fee;
  const form = {
    version: prefix.version,
    unlockTime: `${prefix.unlockTime}`,
    extra: extraForm(prefix.extra),
    targets: prefix.outputs.map(({ amount, target }) => `${target.type} ${amount}`),
    ringSizes: [...new Set(rings.map(({ members }) => members.length))],
    imagesDescend: isAscending(rings.map(({ keyImage }) => keyImage).reverse()),
    repeats: inputs.some(({ keyOffsets }) => keyOffsets.slice(1).includes(0n)),
    feeSteps: `${fee % 10_000n}`,
    proofs: proofForm(transaction),
  };
  return {
    form: JSON.stringify(form),
    inputs: inputs.length,
    rings,
    outputs: prefix.outputs.length,
    fee,
    weight: transactionWeight(transaction),
  };
}
