/** Multisig wallets. Declarations: @anulo/rpc wallet/multisig. */

import { keyImagesOf, toHex, transactionHash } from "@anulo/protocol";
import { type Dialect, wallet as declared, implementFor } from "@anulo/rpc";
import { cosign, isFullySigned } from "../actions/cosign.ts";
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
import { type MultisigSet, sealMultisigSet, unsealMultisigSet } from "../multisig/tx-set.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";
import type { Wallet } from "../wallet.ts";
import { parseHex } from "./parse-hex.ts";

/** Difference S4: by the interface document a wallet is ready when it has its address, before the others confirm it. */
function isReady(account: MultisigAccount, dialect: Dialect): boolean {
  return dialect === "contract" ? hasAddress(account) : isConfirmed(account);
}

/** This signer's account; throws `WalletRefusal` for an ordinary wallet. */
function accountOf({ multisig }: Wallet): MultisigAccount {
  if (multisig === undefined) throw new WalletRefusal("NOT_MULTISIG", "This wallet is not multisig");
  return multisig;
}

/** As `accountOf`, for a wallet that is ready. */
export function readyAccountOf(wallet: Wallet, dialect: Dialect): MultisigAccount {
  const account = accountOf(wallet);
  if (!isReady(account, dialect))
    throw new WalletRefusal("NOT_MULTISIG", "This wallet is multisig, but not yet finalized");
  return account;
}

function refuseMultisigOrViewOnly({ multisig, isViewOnly }: Wallet): void {
  if (multisig !== undefined) throw new WalletRefusal("ALREADY_MULTISIG", "This wallet is already multisig");
  if (isViewOnly) throw new WalletRefusal("WATCH_ONLY", "wallet is watch-only and cannot be made multisig");
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
  return { wallet, account: accountOf(wallet) };
}

const finalized = () =>
  new WalletRefusal("ALREADY_MULTISIG", "This wallet is multisig, and already finalized");

/** Decrypts the set that a caller sent; throws `WalletRefusal` for a set that is not of this wallet. */
async function openSet(wallet: Wallet, hex: string): Promise<MultisigSet> {
  const set = await unsealMultisigSet(parseHex(hex), wallet);
  if (set === undefined) throw new WalletRefusal("BAD_MULTISIG_TX_DATA", "Failed to parse multisig tx data.");
  return set;
}

/**
 * Encrypts the set for the next signer. Our exported nonces for the outputs it spends are deleted: they must not be
 * used again. Source: wallet2.cpp `save_multisig_tx`.
 */
export async function passToNextSigner(wallet: Wallet, set: MultisigSet) {
  const spent = set.transactions.flatMap(({ transaction: { prefix } }) =>
    keyImagesOf(prefix).map((keyImage) => wallet.outputOf(keyImage)),
  );
  const keys = spent.flatMap((output) => (output === undefined ? [] : [toHex(output.oneTimeKey)]));
  const shownNonces = keys.filter((key) => wallet.state.multisigNonces.has(key));
  if (shownNonces.length > 0)
    await wallet.commit({ kind: "multisigNonces", nonces: shownNonces.map((key) => [key, []]) });
  return sealMultisigSet(set, wallet);
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
    const { multisig } = wallet;
    if (multisig === undefined) return { multisig: false, ready: false, threshold: 0, total: 0 };
    const { threshold, signers } = multisig;
    return { multisig: true, ready: isReady(multisig, dialect), threshold, total: signers.length };
  },
  prepareMultisig({ enable_multisig_experimental: enables }, { opened: { wallet } }) {
    refuseMultisigOrViewOnly(wallet);
    if (enables) wallet.preferences = { ...wallet.preferences, allowsMultisig: true };
    const { spendSecret, viewSecret } = wallet.keys;
    return { multisig_info: firstMessage({ spendSecret: spendSecret!, viewSecret }) };
  },
  makeMultisig: ({ multisig_info, threshold, password }, { service, dialect, opened }) =>
    service.inTurn(opened, async () => {
      refuseMultisigOrViewOnly(opened.wallet);
      const { spendSecret, viewSecret } = opened.wallet.keys;
      const secrets = { spendSecret: spendSecret!, viewSecret };
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
      const account = accountOf(opened.wallet);
      if (isReady(account, dialect)) throw finalized();
      const next = await nextRound({ service, opened, dialect }, account, params);
      return { address: next.wallet.addressOf(primary) };
    }),
  exchangeMultisigKeys: (params, { service, opened, dialect }) =>
    service.inTurn(opened, async () => {
      const account = accountOf(opened.wallet);
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
