/** Transfers of one open wallet: prepare, sign, submit. */
import { runSliced } from "@anulo/limits";
import { formatAddress, parseAddress, sumAmounts, toHex, transactionHash } from "@anulo/protocol";
import { previewOf } from "../cold-signing/prepare-unsigned.ts";
import { accountBalance } from "../history/balance.ts";
import { proposeTransaction } from "../multisig/propose.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WorkThreads } from "../threads/work-threads.ts";
import { parseDestinations } from "../transfer/destinations.ts";
import { type PendingTransaction, pendingOf } from "../transfer/metadata.ts";
import { feeRateOf, isUnmixable, outputSourceOf, relayOf } from "../transfer/node.ts";
import {
  type Payment,
  type PrepareParts,
  preparePayment,
  prepareSweep,
  prepareUnmixable,
  type Sweep,
} from "../transfer/prepare.ts";
import { adjustPriority } from "../transfer/priority.ts";
import { inBulk } from "../transfer/random.ts";
import type { RingMemory } from "../transfer/rings.ts";
import type {
  PlannedTransaction,
  Receiver,
  RingedTransaction,
  SignedTransaction,
  Signer,
} from "../transfer/stages.ts";
import type { Wallet } from "../wallet.ts";
import { type Submission, type SubmitParts, submitEach } from "./submit.ts";

function ringMemoryOf(wallet: Wallet): RingMemory {
  return {
    ringOf: (oneTimeKey) => wallet.state.rings.get(oneTimeKey),
    remember: (rings) => wallet.commit({ kind: "rings", rings }),
  };
}

/** Receives the change of an account: its first address. */
function changeReceiver(wallet: Wallet, account: number): Receiver {
  const { spendPublic, viewPublic } = parseAddress(wallet.addressOf({ major: account, minor: 0 }));
  return { spendPublic, viewPublic, isSubaddress: account !== 0 };
}

async function partsOf(wallet: Wallet, account: number, priority: number): Promise<PrepareParts> {
  const { daemon, outputCounts, runtime } = wallet;
  const { random, threads, clock } = runtime;
  return {
    wallet,
    random: inBulk(random),
    threads,
    memory: ringMemoryOf(wallet),
    source: outputSourceOf({ daemon, outputCounts, clock }, wallet.height),
    feeRate: await feeRateOf(daemon, await adjustPriority(wallet, priority), wallet.state),
    change: changeReceiver(wallet, account),
    balanceOf: (of) =>
      accountBalance(wallet.state, {
        account: of,
        strict: false,
        now: wallet.now(),
        indexOf: (address) => wallet.indexOf(address),
      }),
  };
}

/** A signed transaction, and the same as data that can be stored and relayed. */
export type Made = { readonly signed: SignedTransaction; readonly pending: PendingTransaction };

/** Signs in a worker thread; the caller's keys are not changed. */
export function signTransaction(
  ringed: RingedTransaction,
  signer: Omit<Signer, "random">,
  threads: WorkThreads,
): Promise<SignedTransaction> {
  return threads.run("sign", { ringed, signer });
}

/** Called, before anything is signed, with the transactions that will be signed. */
export type Planned = (transactions: readonly PlannedTransaction[]) => Promise<void>;

/**
 * The amount (atomic units) that leaves the wallet with transactions, fees included: all inputs less the change.
 * Payments to own addresses count.
 */
export function outlayOf(transactions: readonly PlannedTransaction[]): bigint {
  return transactions.reduce((sum, { inputs, change }) => sum + sumAmounts(inputs) - change, 0n);
}

/**
 * Signs the transactions. A view-only wallet builds previews: everything but the signatures, which the wallet with the
 * spend key adds.
 */
async function signAll(
  wallet: Wallet,
  ringed: readonly RingedTransaction[],
  { change, plan }: { readonly change: Receiver; readonly plan: Planned },
): Promise<Made[]> {
  await plan(ringed);
  const isShared = wallet.multisig !== undefined;
  return Promise.all(
    ringed.map((each) =>
      isShared ? proposeTransaction(each, { wallet, change }) : signOne(wallet, each, change),
    ),
  );
}

async function signOne(wallet: Wallet, ringed: RingedTransaction, change: Receiver): Promise<Made> {
  const { keys, runtime } = wallet;
  const job = wallet.isViewOnly ? previewOf(ringed, keys, runtime.random) : { ringed, keys };
  const signed = await signTransaction(job.ringed, { keys: job.keys, change }, runtime.threads);
  const indexOf = ({ oneTimeKey }: OwnedOutput): number => wallet.state.outputs.placeOfKey(oneTimeKey) ?? -1;
  return {
    signed,
    pending: pendingOf({ ...signed, inputs: ringed.inputs, rings: ringed.rings }, { change, indexOf }),
  };
}

/** Builds signed transactions that pay every destination; nothing is stored or relayed. Throws `WalletRefusal`. */
export async function makePayment(
  wallet: Wallet,
  payment: Payment & { priority: number },
  plan: Planned,
): Promise<Made[]> {
  const parts = await partsOf(wallet, payment.account, payment.priority);
  return signAll(wallet, await preparePayment(parts, payment), { change: parts.change, plan });
}

/** Builds signed transactions that spend `inputs`, or all outputs of the sweep's addresses. Throws `WalletRefusal`. */
export async function makeSweep(
  wallet: Wallet,
  sweep: Sweep & { priority: number },
  { plan, inputs }: { readonly plan: Planned; readonly inputs?: readonly OwnedOutput[] },
): Promise<Made[]> {
  const parts = await partsOf(wallet, sweep.account, sweep.priority);
  return signAll(wallet, await prepareSweep(parts, sweep, inputs), { change: parts.change, plan });
}

/**
 * Builds signed transactions that send outputs with too few decoys back to the wallet, each account separately; none if
 * there is no such output. Throws `WalletRefusal`.
 */
export async function makeUnmixableSweep(wallet: Wallet, plan: Planned): Promise<Made[]> {
  const feeRate = await feeRateOf(wallet.daemon, 1, wallet.state);
  const { outputs } = wallet.state;
  const visible: OwnedOutput[] = [];
  for (const account of [...outputs.accounts])
    for (const place of await runSliced(wallet.spendablePlaces(account)))
      if (!outputs.isHidden(place)) visible.push(outputs.at(place)!);
  const isRare = await isUnmixable(
    wallet.daemon,
    visible.map(({ amount }) => amount),
  );
  const unmixable = visible.filter(({ amount }) => isRare(amount));
  if (unmixable.length > 0 && (wallet.isViewOnly || wallet.multisig !== undefined))
    throw new WalletRefusal(
      "GENERIC_TRANSFER_ERROR",
      "only a wallet with its spend key can sweep these outputs",
    );
  const [destination] = parseDestinations(
    [{ address: wallet.addressOf({ major: 0, minor: 0 }), amount: 0n }],
    wallet.network,
  );
  const transactions: Made[] = [];
  for (const account of new Set(unmixable.map(({ subaddress }) => subaddress.major))) {
    const inputs = unmixable.filter(({ subaddress }) => subaddress.major === account);
    const change = changeReceiver(wallet, account);
    const { random } = wallet.runtime;
    const ringed = await prepareUnmixable({ feeRate, change, random }, inputs, destination!);
    transactions.push(...(await signAll(wallet, ringed, { change, plan })));
  }
  return transactions;
}

/** Their ids, in hexadecimal. */
export function idsOf(pending: readonly PendingTransaction[]): string[] {
  return pending.map(({ transaction }) => toHex(transactionHash(transaction)));
}

/**
 * Stores transactions, then relays them one after the other; returns their ids (hexadecimal). Throws `WalletRefusal`.
 */
export function submitPending(
  wallet: Wallet,
  pending: readonly PendingTransaction[],
  submission: Submission,
): Promise<string[]> {
  const utf8 = new TextDecoder();
  const parts: SubmitParts = {
    wallet,
    relay: relayOf(wallet.daemon),
    addressOf: ({ original, isSubaddress, spendPublic, viewPublic }) => {
      if (original.length > 0) return utf8.decode(original);
      const kind = isSubaddress === 1 ? "subaddress" : "standard";
      return formatAddress({ kind, spendPublic, viewPublic }, wallet.network);
    },
  };
  return submitEach(pending, parts, submission);
}
