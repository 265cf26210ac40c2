/** Sends again signed and stored transactions that the node may not have. */
import { toHex } from "@anulo/protocol";
import type { WalletChange } from "../changes.ts";
import type { Daemon } from "../daemon.ts";
import { isLate } from "../ledger/apply-pool.ts";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";
import type { OutgoingPayment, WalletState } from "../state.ts";
import { isKnownTo, type Relay, relayOf } from "../transfer/node.ts";
import type { TaskQueue } from "../turns.ts";
import { spendingHeight } from "../unlock.ts";

/** The parts of a wallet that sending again uses. */
export type Sender = {
  readonly state: Readonly<Pick<WalletState, "outgoing" | "background">>;
  readonly daemon: Daemon;
  now(): { readonly seconds: number };
  outputOf(keyImage: Uint8Array): OwnedOutput | undefined;
  commit(change: WalletChange): Promise<void>;
  /** Throws if a change could not be stored: data that is in memory alone must not be sent. */
  checkWritten(): void;
};

/** Maximum number of transactions per refresh; a node accepts one in some 50 ms. */
const MAX_PER_ROUND = 100;
/** After this many seconds a refresh leaves the rest to the next one, since payments have to wait meanwhile. */
const MAX_SECONDS = 10;

/** Whether no other transaction spends its inputs. */
function isStillPossible(payment: OutgoingPayment, sender: Sender): boolean {
  const id = toHex(payment.txHash);
  return payment.keyImages.every((image) => {
    const output = sender.outputOf(image);
    if (output === undefined) return true;
    return spendingHeight(output) === undefined && (output.pendingSpend ?? id) === id;
  });
}

/** Whether a block spends one of its inputs, in another transaction. */
function isOvertaken({ keyImages }: OutgoingPayment, sender: Sender): boolean {
  return keyImages.some((image) => {
    const output = sender.outputOf(image);
    return output !== undefined && spendingHeight(output) !== undefined;
  });
}

/**
 * Whether the node may not have it: its response is not known, or the transaction has been out of the pool for longer
 * than usual.
 */
function isWanting(payment: OutgoingPayment, seconds: number): boolean {
  if (payment.blob === undefined) return false;
  if (payment.state === "signed") return true;
  return (payment.state === "missing" || payment.state === "forgotten") && isLate(payment, seconds);
}

/**
 * Sends a payment; undefined if the node has it now, otherwise the reason. Throws `WalletRefusal` if the node can't be
 * reached.
 */
async function offer(sender: Sender, payment: OutgoingPayment, relay: Relay): Promise<string | undefined> {
  const txHash = toHex(payment.txHash);
  const { accepted, reason } = await relay(payment.blob!);
  // The node reports a transaction that was mined in the meantime as a double spend.
  if (!accepted && !(await isKnownTo(sender.daemon, txHash))) return reason;
  await sender.commit({ kind: "outgoingState", txHash, state: "pending" });
  return undefined;
}

/**
 * Sends the transactions that the node may not have, up to 100, oldest first. If the node rejects one after the time it
 * may take to reach the pool, the payment has failed and its inputs are free. Does nothing while a payment is under
 * way, if the node does not respond, and while the spend secret is not in memory.
 */
export async function sendUnseen(sender: Sender, spending: TaskQueue): Promise<void> {
  if (sender.state.background !== undefined || sender.state.outgoing.unconfirmed().length === 0) return;
  try {
    await spending.runIfIdle(() => sendAll(sender));
  } catch (error) {
    if (!(error instanceof WalletRefusal)) throw error;
  }
}

async function sendAll(sender: Sender): Promise<void> {
  const { seconds } = sender.now();
  const relay = relayOf(sender.daemon);
  const wanting: OutgoingPayment[] = [];
  for (const payment of sender.state.outgoing.unconfirmed()) {
    if (wanting.length === MAX_PER_ROUND) break;
    if (!isWanting(payment, seconds)) continue;
    if (isOvertaken(payment, sender) || isStillPossible(payment, sender)) wanting.push(payment);
  }
  for (const payment of wanting) {
    if (sender.now().seconds > seconds + MAX_SECONDS) return;
    sender.checkWritten();
    const isOver =
      isOvertaken(payment, sender) || ((await isRefused(sender, payment, relay)) && isLate(payment, seconds));
    if (!isOver) continue;
    await sender.commit({ kind: "outgoingState", txHash: toHex(payment.txHash), state: "failed" });
  }
}

/**
 * Whether the node rejects it; false if the node returns no verdict. Throws `WalletRefusal` if the node can't be
 * reached.
 */
async function isRefused(sender: Sender, payment: OutgoingPayment, relay: Relay): Promise<boolean> {
  try {
    return (await offer(sender, payment, relay)) !== undefined;
  } catch (error) {
    if (!(error instanceof WalletRefusal) || isAway.has(error.kind)) throw error;
    return false;
  }
}

/** Errors which mean that the node can't be reached at all. */
const isAway: ReadonlySet<WalletRefusal["kind"]> = new Set(["NO_DAEMON_CONNECTION", "DAEMON_IS_BUSY"]);

/**
 * Sends those of these transactions (ids of 32 bytes) that the node may not have, whatever the wallet assumed of them.
 * Throws `WalletRefusal` if it rejects one that no node has accepted before.
 */
export async function sendMissing(sender: Sender, txHashes: readonly Uint8Array[]): Promise<void> {
  const relay = relayOf(sender.daemon);
  for (const txHash of txHashes) {
    const payment = sender.state.outgoing.get(toHex(txHash));
    if (payment === undefined) await checkKnown(sender, toHex(txHash));
    if (payment?.blob === undefined || payment.state === "pending" || payment.state === "confirmed") continue;
    sender.checkWritten();
    const wasTaken = payment.state === "missing";
    await haveTaken(sender, payment, relay).catch((error: unknown) => {
      if (!wasTaken || !(error instanceof WalletRefusal)) throw error;
      sender.checkWritten();
    });
  }
}

async function haveTaken(sender: Sender, payment: OutgoingPayment, relay: Relay): Promise<void> {
  const reason = isStillPossible(payment, sender)
    ? await offer(sender, payment, relay)
    : "its inputs are spent";
  if (reason !== undefined) throw rejected(reason);
}

/** A rescan deletes failed payments, and finds mined ones again: throws unless the node has the transaction. */
async function checkKnown({ daemon }: Sender, id: string): Promise<void> {
  if (await isKnownTo(daemon, id)) return;
  throw new WalletRefusal(
    "GENERIC_TRANSFER_ERROR",
    `transaction ${id} is not known any more: a rescan has forgotten it, and the node does not have it`,
  );
}

/** The error for a transaction that the node rejected. */
export function rejected(reason: string): WalletRefusal {
  const because = reason === "" ? "" : ` (${reason})`;
  return new WalletRefusal("GENERIC_TRANSFER_ERROR", `transaction was rejected by daemon${because}`);
}
