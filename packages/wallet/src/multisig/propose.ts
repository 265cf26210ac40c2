/**
 * Builds a transaction of a multisig wallet in a worker thread, and returns it in the form that is sent to the next
 * signer.
 */
import { equalBytes, toHex } from "@anulo/protocol";
import type { WalletState } from "../state.ts";
import type { WorkThreads } from "../threads/work-threads.ts";
import {
  destinationValue,
  type PendingTransaction,
  pendingOf,
  type SigningAttempt,
} from "../transfer/metadata.ts";
import type { Receiver, RingedTransaction, SignedTransaction } from "../transfer/stages.ts";
import type { OutputPlan } from "../transfer/tx-keys.ts";
import type { MultisigAccount } from "./key-exchange.ts";

/** The parts of the wallet that a proposal uses. */
export interface ProposingWallet {
  readonly state: Pick<WalletState, "outputs" | "multisigInfos">;
  readonly runtime: { readonly threads: WorkThreads };
}

export interface Proposal {
  readonly signed: SignedTransaction;
  readonly pending: PendingTransaction;
}

/** The transaction and the data that the next signer needs. Throws `WalletRefusal`. */
export async function proposeTransaction(
  ringed: RingedTransaction,
  {
    account,
    wallet,
    change,
  }: { readonly account: MultisigAccount; readonly wallet: ProposingWallet; readonly change: Receiver },
): Promise<Proposal> {
  const infos = new Map(
    ringed.inputs.map(({ oneTimeKey }) => {
      const key = toHex(oneTimeKey);
      return [key, wallet.state.multisigInfos.get(key) ?? []] as const;
    }),
  );
  const { signed, ...proposal } = await wallet.runtime.threads.run("propose", {
    ringed,
    proposer: { account, change, infos },
  });
  const indexOf = ({ oneTimeKey }: { readonly oneTimeKey: Uint8Array }) =>
    wallet.state.outputs.placeOfKey(oneTimeKey) ?? -1;
  const pending = pendingOf(signed, { change, indexOf });
  return { signed, pending: withSigners(pending, proposal) };
}

/** Adds the data that only multisig sets have: outputs in their final order, and key images beside the sources. */
function withSigners(
  pending: PendingTransaction,
  proposal: { outputs: readonly OutputPlan[]; entropy: Uint8Array; attempts: SigningAttempt[] },
): PendingTransaction {
  const { constructionData: data, transaction } = pending;
  const images = transaction.prefix.inputs.map((input) =>
    input.type === "key" ? input.keyImage : undefined,
  );
  const sources = data.sources.map((source, i) => {
    const multisig = new Uint8Array(128);
    multisig.set(images[i]!, 96);
    return { ...source, multisig };
  });
  const dummy = proposal.outputs.find(({ isChange, amount }) => isChange && amount === 0n);
  const change = data.change.amount > 0n || dummy === undefined ? data.change : destinationValue(dummy);
  const splitDestinations = proposal.outputs.map((output) => {
    const named = data.destinations.find(
      ({ spendPublic, amount }) => equalBytes(spendPublic, output.spendPublic) && amount === output.amount,
    );
    return named ?? destinationValue(output);
  });
  return {
    ...pending,
    change,
    constructionData: { ...data, sources, change, splitDestinations },
    multisigSignatures: proposal.attempts,
    multisigEntropy: proposal.entropy,
  };
}
