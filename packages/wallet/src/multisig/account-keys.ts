import { generateKeyDerivation, publicKeyOf, scAdd, wipe } from "@anulo/crypto";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { oneTimeSecret } from "../scan/scan-transaction.ts";
import type { WalletKeys } from "../state.ts";
import type { MultisigAccount } from "./key-exchange.ts";

/** This signer's account in a multisig wallet; undefined for an ordinary wallet. */
export function accountOfKeys(keys: WalletKeys): MultisigAccount | undefined {
  const { multisig, spendSecret, viewSecret, spendPublic, viewPublic } = keys;
  if (multisig === undefined || spendSecret === undefined) return undefined;
  return { ...multisig, baseSecret: spendSecret, commonSecret: viewSecret, spendPublic, viewPublic };
}

/** The keys of a multisig wallet. */
export function keysOfAccount(account: MultisigAccount): WalletKeys {
  const { baseSecret, commonSecret, spendPublic, viewPublic, ...multisig } = account;
  return { spendSecret: baseSecret, viewSecret: commonSecret, spendPublic, viewPublic, multisig };
}

/** The public base key that identifies this signer to the others (32 bytes). */
export function signerKeyOf({ baseSecret }: MultisigAccount): Uint8Array {
  return publicKeyOf(baseSecret);
}

/**
 * The keys for scanning: without the spend secret in a multisig wallet, since no signer alone can compute key images.
 */
export function scanningKeys(keys: WalletKeys): WalletKeys {
  return keys.multisig === undefined ? keys : { ...keys, spendSecret: undefined, multisig: undefined };
}

/** The sum of secret scalars (32 bytes each), which the caller wipes; intermediate sums are wiped. */
export function sumOfSecrets(secrets: readonly Uint8Array[]): Uint8Array {
  const sum = new Uint8Array(32);
  for (const secret of secrets) {
    const next = scAdd(sum, secret);
    sum.set(next);
    wipe(next);
  }
  return sum;
}

/** This signer's part of an owned output's one-time secret (32 bytes), which the caller wipes. */
export function ownOneTimeSecret(account: MultisigAccount, output: OwnedOutput): Uint8Array {
  const spendSecret = sumOfSecrets(account.shares);
  const viewSecret = account.commonSecret;
  const derivation = generateKeyDerivation(output.txPublicKey, viewSecret);
  try {
    return oneTimeSecret({ spendSecret, viewSecret }, { derivation, ...output });
  } finally {
    wipe(spendSecret, derivation);
  }
}

/** Overwrites all secrets. */
export function wipeKeys({ viewSecret, spendSecret, multisig }: WalletKeys): void {
  wipe(viewSecret, spendSecret, ...(multisig?.shares ?? []));
}
