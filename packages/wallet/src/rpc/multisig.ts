/** Multisig wallets. Declarations: @anulo/rpc wallet/multisig. */

import { toHex, transactionHash } from "@anulo/protocol";
import { type Dialect, wallet as declared, implementFor } from "@anulo/rpc";
import { cosign, isFullySigned } from "../actions/cosign.ts";
import { passToNextSigner } from "../actions/handover.ts";
import { exportInfo, importInfo } from "../actions/multisig-info.ts";
import { idsOf, submitPending } from "../actions/transfers.ts";
import { connectDaemon } from "../daemon.ts";
import { changeKeys } from "../file/change-wallet.ts";
import { askedBy } from "../intents/asked.ts";
import { payOnce } from "../intents/once.ts";
import { keysOfAccount } from "../multisig/account-keys.ts";
import { SigningRefused } from "../multisig/attempts.ts";
import {
  firstMessage,
  hasAddress,
  isConfirmed,
  type MultisigAccount,
  nextMessage,
} from "../multisig/key-exchange.ts";
import { type MultisigSet, unsealMultisigSet } from "../multisig/tx-set.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";
import { accountOf } from "../signer/signer.ts";
import type { Wallet } from "../wallet.ts";
import { parseHex } from "./parse-hex.ts";

/** Difference S4: by the interface document a wallet is ready when it has its address, before the others confirm it. */
function isReady(account: MultisigAccount, dialect: Dialect): boolean {
  return dialect === "contract" ? hasAddress(account) : isConfirmed(account);
}

/** As `accountOf`, for a wallet that is ready. */
export function readyAccountOf({ signer }: Wallet, dialect: Dialect): MultisigAccount {
  const account = accountOf(signer);
  if (!isReady(account, dialect))
    throw new WalletRefusal("NOT_MULTISIG", "This wallet is multisig, but not yet finalized");
  return account;
}

type Part = Pick<WalletContext, "service" | "opened" | "dialect">;

/** Stores a step of the key exchange: in the files first, then in the open wallet. */
async function keepAccount({ service, opened, dialect }: Part, account: MultisigAccount, password: string) {
  // The same node over another connection: closing the wallet closes its connection.
  const { address, isTrusted } = opened.wallet.daemon;
  const options = { ...service.openOptions, daemon: connectDaemon(address, { trusted: isTrusted }) };
  const isEnabled = dialect === "contract" || opened.wallet.preferences.allowsMultisig;
  const change = {
    password,
    keys: keysOfAccount(structuredClone(account)),
    // By the interface document multisig need not be enabled.
    settings: [["enable_multisig", isEnabled ? 1 : 0]] as const,
    close: () => service.replace(undefined),
  };
  await service.replace(await changeKeys(opened, change, options));
}

const primary = { major: 0, minor: 0 } as const;

/** Completes the next round with the other signers' messages; returns the wallet that is open afterwards. */
async function nextRound(
  part: Part,
  account: MultisigAccount,
  params: {
    readonly multisig_info: readonly string[];
    readonly password: string;
    readonly force_update_use_with_caution?: boolean;
  },
): Promise<{ wallet: Wallet; account: MultisigAccount }> {
  if (params.multisig_info.length + 1 < account.signers.length)
    throw new WalletRefusal("THRESHOLD_NOT_REACHED", "Needs multisig info from more participants");
  const next = await part.service.runtime.threads.run("continueKeyExchange", {
    account,
    texts: params.multisig_info,
    isForced: params.force_update_use_with_caution ?? false,
    prefix: "Error calling exchange_multisig_info: ",
  });
  await keepAccount(part, next, params.password);
  const { wallet } = part.service.opened!;
  return { wallet, account: accountOf(wallet.signer) };
}

const finalized = () =>
  new WalletRefusal("ALREADY_MULTISIG", "This wallet is multisig, and already finalized");

/** Decrypts the set that a caller sent; throws `WalletRefusal` for a set that is not of this wallet. */
async function openSet(wallet: Wallet, hex: string): Promise<MultisigSet> {
  const set = await unsealMultisigSet(parseHex(hex), wallet);
  if (set === undefined) throw new WalletRefusal("BAD_MULTISIG_TX_DATA", "Failed to parse multisig tx data.");
  return set;
}

async function signing<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof SigningRefused)) throw error;
    throw new WalletRefusal("MULTISIG_SIGNATURE", `Failed to sign multisig tx: ${error.message}`);
  }
}

async function keepTxKeys(wallet: Wallet, { transactions }: MultisigSet): Promise<void> {
  for (const { transaction, txKey, additionalTxKeys } of transactions) {
    const txHash = toHex(transactionHash(transaction));
    await wallet.commit({ kind: "txKeys", txHash, txKeys: [txKey, ...additionalTxKeys] });
  }
}

const submissionRefused = ({ message, data }: WalletRefusal) =>
  new WalletRefusal("MULTISIG_SUBMISSION", `Failed to submit multisig tx: ${message}`, data);

export const multisigHandlers = implementFor<WalletContext>()(declared.multisig, {
  isMultisig(_, { opened: { wallet }, dialect }) {
    const { signer } = wallet;
    if (signer.kind !== "multisig") return { multisig: false, ready: false, threshold: 0, total: 0 };
    const { threshold, signers } = signer.account;
    return { multisig: true, ready: isReady(signer.account, dialect), threshold, total: signers.length };
  },
  prepareMultisig({ enable_multisig_experimental: enables }, { opened: { wallet } }) {
    const keys = wallet.signer.spendKeys("becomeMultisig");
    if (enables) wallet.preferences = { ...wallet.preferences, allowsMultisig: true };
    return { multisig_info: firstMessage(keys) };
  },
  makeMultisig: ({ multisig_info, threshold, password }, { service, dialect, opened }) =>
    service.inTurn(opened, async () => {
      const { spendSecret, viewSecret } = opened.wallet.signer.spendKeys("becomeMultisig");
      const secrets = { spendSecret, viewSecret };
      const account = await service.runtime.threads.run("startKeyExchange", {
        secrets,
        texts: multisig_info,
        threshold,
      });
      const message = isReady(account, dialect) ? "" : nextMessage(account);
      await keepAccount({ service, opened, dialect }, account, password);
      return { address: service.opened!.wallet.addressOf(primary), multisig_info: message };
    }),
  finalizeMultisig: (params, { service, opened, dialect }) =>
    service.inTurn(opened, async () => {
      const account = accountOf(opened.wallet.signer);
      if (isReady(account, dialect)) throw finalized();
      const next = await nextRound({ service, opened, dialect }, account, params);
      return { address: next.wallet.addressOf(primary) };
    }),
  exchangeMultisigKeys: (params, { service, opened, dialect }) =>
    service.inTurn(opened, async () => {
      const account = accountOf(opened.wallet.signer);
      if (isConfirmed(account)) throw finalized();
      const next = await nextRound({ service, opened, dialect }, account, params);
      const address = isReady(next.account, dialect) ? next.wallet.addressOf(primary) : "";
      return { address, multisig_info: nextMessage(next.account) };
    }),
  exportMultisigInfo: (_, { opened: { wallet }, dialect }) =>
    wallet.exclusively(async () => {
      const account = readyAccountOf(wallet, dialect);
      return { info: toHex(await exportInfo(wallet, account)) };
    }),
  importMultisigInfo: ({ info, refresh_after_import }, { opened: { wallet }, dialect }) =>
    wallet.exclusively(async () => {
      const account = readyAccountOf(wallet, dialect);
      if (info.length < account.threshold - 1)
        throw new WalletRefusal("THRESHOLD_NOT_REACHED", "Needs multisig export info from more participants");
      const sealed = info.map(parseHex);
      const input = { sealed, isLookedUp: refresh_after_import };
      return { n_outputs: await importInfo(wallet, account, input) };
    }),
  signMultisig: ({ tx_data_hex }, { opened: { wallet }, dialect }) =>
    wallet.exclusively(async () => {
      const account = readyAccountOf(wallet, dialect);
      const openedSet = await openSet(wallet, tx_data_hex);
      const { set, txHashes } = await signing(() => cosign(wallet, account, openedSet));
      if (isFullySigned(set, account)) await keepTxKeys(wallet, set);
      return {
        tx_data_hex: toHex(await passToNextSigner(wallet, set)),
        tx_hash_list: txHashes.map(toHex),
      };
    }),
  submitMultisig: (params, { opened: { wallet }, allowance, dialect }) =>
    payOnce({ wallet, allowance }, askedBy(declared.multisig.submitMultisig, params), {
      perform: async (_, intent) => {
        const account = readyAccountOf(wallet, dialect);
        const set = await openSet(wallet, params.tx_data_hex);
        if (!isFullySigned(set, account))
          throw new WalletRefusal("THRESHOLD_NOT_REACHED", "Not enough signers signed this transaction.");
        const answer = { tx_hash_list: idsOf(set.transactions) };
        const submission = await intent.submission(answer, answer.tx_hash_list, submissionRefused);
        await submitPending(wallet, set.transactions, submission);
        return answer;
      },
    }),
});
