import { createHash } from "node:crypto";
import { keccak256, scalarMultBase, scReduce32 } from "@anulo/crypto";
import { encodeMnemonic, formatAddress } from "@anulo/protocol";

/** What everyone can compute of a devnet's wallet. */
export type DevnetKeys = {
  /** 25 words. */
  readonly mnemonic: string;
  readonly address: string;
};

/** Keys that follow from a seed and a name alone: worthless anywhere else. */
export function devnetKeys(seed: number, name: string): DevnetKeys {
  const hash = createHash("sha256").update(`anulo devnet ${seed} ${name}`).digest();
  const spendSecret = scReduce32(new Uint8Array(hash));
  const viewSecret = scReduce32(keccak256(spendSecret));
  const [spendPublic, viewPublic] = [scalarMultBase(spendSecret), scalarMultBase(viewSecret)];
  return {
    mnemonic: encodeMnemonic(spendSecret, "English"),
    address: formatAddress({ kind: "standard", spendPublic, viewPublic }, "regtest"),
  };
}
