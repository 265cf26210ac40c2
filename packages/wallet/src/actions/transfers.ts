/** Transfers of one open wallet: prepare, sign, submit. */
import { runSliced } from "@anulo/limits";
import { formatAddress, parseAddress, sumAmounts, toHex, transactionHash } from "@anulo/protocol";
import { accountBalance } from "../history/balance.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { createMoveCheck, retryWhenMoved, spendablePlaces } from "../outputs/walk.ts";
import type { Made } from "../signer/signer.ts";
import { parseDestination } from "../transfer/destinations.ts";
import type { PendingTransaction } from "../transfer/metadata.ts";
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
import type { PlannedTransaction, Receiver, RingedTransaction } from "../transfer/stages.ts";
import type { Wallet } from "../wallet.ts";
import { relayForeign, type Submission, type SubmitParts, spendsOwn, submitEach } from "./submit.ts";

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

/** Called, before anything is signed, with the transactions that will be signed. */
export type Planned = (transactions: readonly PlannedTransaction[]) => Promise<void>;

/**
 * The amount (atomic units) that leaves the wallet with transactions, fees included: all inputs less the change.
 * Payments to own addresses count.
 */
export function outlayOf(transactions: readonly PlannedTransaction[]): bigint {
  return transactions.reduce((sum, { inputs, change }) => sum + sumAmounts(inputs) - change, 0n);
}

/** Has the wallet's signer sign the transactions, as far as it can. */
async function signAll(
  wallet: Wallet,
  ringed: readonly RingedTransaction[],
  { change, plan }: { readonly change: Receiver; readonly plan: Planned },
): Promise<Made[]> {
  await plan(ringed);
  const { signer, state, runtime } = wallet;
  return Promise.all(ringed.map((each) => signer.sign(each, { change, state, runtime })));
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

/** The outputs of all accounts that can be spent now, without hidden ones. */
function spendableOutputs(wallet: Wallet): Promise<OwnedOutput[]> {
  return retryWhenMoved(async () => {
    const { outputs } = wallet.state;
    const checkMoved = createMoveCheck(outputs);
    const visible: OwnedOutput[] = [];
    for (const account of [...outputs.accounts]) {
      const places = await runSliced(spendablePlaces(outputs, account, wallet.spendableNow));
      checkMoved();
      for (const place of places) if (!outputs.isHidden(place)) visible.push(outputs.at(place)!);
    }
    return visible;
  });
}

/**
 * Builds signed transactions that send outputs with too few decoys back to the wallet, each account separately; none if
 * there is no such output. Throws `WalletRefusal`.
 */
export async function makeUnmixableSweep(wallet: Wallet, plan: Planned): Promise<Made[]> {
  const feeRate = await feeRateOf(wallet.daemon, 1, wallet.state);
  const visible = await spendableOutputs(wallet);
  const isRare = await isUnmixable(
    wallet.daemon,
    visible.map(({ amount }) => amount),
  );
  const unmixable = visible.filter(({ amount }) => isRare(amount));
  if (unmixable.length > 0) wallet.signer.check("sweepUnmixable");
  const address = wallet.addressOf({ major: 0, minor: 0 });
  const destination = parseDestination({ address, amount: 0n }, wallet.network);
  const transactions: Made[] = [];
  for (const account of new Set(unmixable.map(({ subaddress }) => subaddress.major))) {
    const inputs = unmixable.filter(({ subaddress }) => subaddress.major === account);
    const change = changeReceiver(wallet, account);
    const { random } = wallet.runtime;
    const ringed = await prepareUnmixable({ feeRate, change, random }, inputs, destination);
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

/**
 * Relays a transaction that came as metadata: as `submitPending`, unless it is somebody else's. Throws `WalletRefusal`.
 */
export async function relayPending(
  wallet: Wallet,
  pending: PendingTransaction,
  submission: Submission,
): Promise<void> {
  if (spendsOwn(wallet, pending)) await submitPending(wallet, [pending], submission);
  else await relayForeign(pending, { wallet, relay: relayOf(wallet.daemon) }, submission);
}
