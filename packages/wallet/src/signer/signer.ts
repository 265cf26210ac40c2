/**
 * Who signs for a wallet: chosen when the wallet is opened, and anew when its keys change. Callers have it do something
 * instead of asking what it is; what signers of its kind can't do it refuses (`refusals.ts`).
 */
import { previewOf } from "../cold-signing/prepare-unsigned.ts";
import { accountOfKeys, scanningKeys } from "../multisig/account-keys.ts";
import type { MultisigAccount } from "../multisig/key-exchange.ts";
import { proposeTransaction } from "../multisig/propose.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import type { Runtime } from "../runtime.ts";
import type { SpendKeys, WalletKeys, WalletState } from "../state.ts";
import { type PendingTransaction, pendingOf } from "../transfer/metadata.ts";
import type { Receiver, RingedTransaction, SignedTransaction } from "../transfer/stages.ts";
import { type Act, lackOf, refusalOf, type SignerKind } from "./refusals.ts";

/** A signed transaction, and the same as data that can be stored and relayed. */
export type Made = { readonly signed: SignedTransaction; readonly pending: PendingTransaction };

/** The wallet that a transaction is signed for. `change` receives its change. */
export type SigningParts = {
  readonly change: Receiver;
  readonly state: Pick<WalletState, "outputs" | "multisigInfos">;
  readonly runtime: Pick<Runtime, "threads" | "random">;
};

/** What signers of every kind have in common. */
abstract class AnySigner<K extends SignerKind, Keys extends WalletKeys = WalletKeys> {
  readonly kind: K;
  /** All keys that are in memory; who has the wallet wipes them. */
  readonly keys: Keys;

  constructor(kind: K, keys: Keys) {
    this.kind = kind;
    this.keys = keys;
  }

  /** The keys for scanning: with the spend secret where it yields key images. */
  get scanningKeys(): WalletKeys {
    return scanningKeys(this.keys);
  }

  /** Whether another wallet makes the key images: outputs are spent without them, and theirs are asked for. */
  get asksForKeyImages(): boolean {
    return false;
  }

  /** Throws if signers of its kind can't do this. */
  check(act: Act): void {
    const refusal = refusalOf(act, this.kind);
    if (refusal !== undefined) throw refusal;
  }

  /** The keys for an act that needs the spend secret; throws for signers without it. */
  spendKeys(act: Act): SpendKeys {
    throw lackOf(act, this.kind);
  }

  /** Signs a transfer, whole or as far as this signer can. Throws `WalletRefusal`. */
  abstract sign(ringed: RingedTransaction, parts: SigningParts): Promise<Made>;
}

class HotSigner extends AnySigner<"hot", WalletKeys & SpendKeys> {
  override spendKeys(): SpendKeys {
    return this.keys;
  }

  sign(ringed: RingedTransaction, parts: SigningParts): Promise<Made> {
    return signWith({ ringed, keys: this.keys }, ringed, parts);
  }
}

class ViewOnlySigner extends AnySigner<"viewOnly"> {
  override get asksForKeyImages(): boolean {
    return true;
  }

  /** Builds a preview: everything but the signatures, which the wallet with the spend key adds. */
  sign(ringed: RingedTransaction, parts: SigningParts): Promise<Made> {
    return signWith(previewOf(ringed, this.keys, parts.runtime.random), ringed, parts);
  }
}

class BackgroundSigner extends AnySigner<"background"> {
  async sign(): Promise<never> {
    throw lackOf("signSet", this.kind);
  }
}

class MultisigSigner extends AnySigner<"multisig"> {
  readonly account: MultisigAccount;

  constructor(keys: WalletKeys, account: MultisigAccount) {
    super("multisig", keys);
    this.account = account;
  }

  /** Makes a proposal, which the other signers complete. */
  sign(ringed: RingedTransaction, { change, ...wallet }: SigningParts): Promise<Made> {
    return proposeTransaction(ringed, { account: this.account, wallet, change });
  }
}

export type Signer = HotSigner | ViewOnlySigner | BackgroundSigner | MultisigSigner;

/** The signer for these keys; `isBackground`: their spend secret is out of memory for a background sync. */
export function signerOf(keys: WalletKeys, isBackground: boolean): Signer {
  const account = accountOfKeys(keys);
  if (account !== undefined) return new MultisigSigner(keys, account);
  if (hasSpendSecret(keys)) return new HotSigner("hot", keys);
  return isBackground ? new BackgroundSigner("background", keys) : new ViewOnlySigner("viewOnly", keys);
}

const hasSpendSecret = (keys: WalletKeys): keys is WalletKeys & SpendKeys => keys.spendSecret !== undefined;

/** This signer's account in a multisig wallet. Throws `WalletRefusal` for an ordinary wallet. */
export function accountOf(signer: Signer): MultisigAccount {
  if (signer.kind === "multisig") return signer.account;
  throw lackOf("cosign", signer.kind);
}

/** Signs in a worker thread; the result names the inputs and rings that were planned. */
async function signWith(
  ready: { readonly ringed: RingedTransaction; readonly keys: SpendKeys },
  { inputs, rings }: RingedTransaction,
  { change, state, runtime }: SigningParts,
): Promise<Made> {
  const signed = await runtime.threads.run("sign", {
    ringed: ready.ringed,
    signing: { keys: ready.keys, change },
  });
  const indexOf = ({ oneTimeKey }: OwnedOutput): number => state.outputs.placeOfKey(oneTimeKey) ?? -1;
  return { signed, pending: pendingOf({ ...signed, inputs, rings }, { change, indexOf }) };
}
