/**
 * Transaction keys that every signer can compute: a chain of hashes over entropy and the key images spent, so that no
 * two transactions in the chain have the same. Source: multisig_tx_builder_ringct.cpp `make_tx_secret_keys`.
 */
import { hashToScalar, keccak256, wipe } from "@anulo/crypto";
import { needsAdditionalKeys, type OutputPlan, type TxSecrets } from "../transfer/tx-keys.ts";

const hashOf = (text: string) => keccak256(new TextEncoder().encode(text));
const seedDomain = hashOf("multisig_tx_privkeys_seed");
const chainStart = hashOf("multisig_tx_privkeys");

/** Secrets for these outputs; `keyImages` (32 bytes each) in the order of the inputs. */
export function txSecretsOf(
  outputs: readonly OutputPlan[],
  entropy: Uint8Array,
  keyImages: readonly Uint8Array[],
): TxSecrets {
  const seed = keccak256(seedDomain, entropy, ...keyImages);
  const isNeeded = needsAdditionalKeys(outputs.filter(({ isChange }) => !isChange));
  const main = hashToScalar(seed, chainStart);
  const additional: Uint8Array[] = [];
  while (isNeeded && additional.length < outputs.length)
    additional.push(hashToScalar(seed, additional.at(-1) ?? main));
  wipe(seed);
  return { main, additional };
}
