/** Sends again what was signed and kept, where the node may not have it. */
import { toHex } from "@anulo/protocol";
import type { WalletChange } from "../changes.ts";
import type { Daemon } from "../daemon.ts";
import { isLate } from "../ledger/apply-pool.ts";
import { WalletRefusal } from "../refusal.ts";
import type { OutgoingPayment, OwnedOutput, WalletState } from "../state.ts";
import { isKnownTo, type Relay, relayOf } from "../transfer/node.ts";
import type { TaskQueue } from "../turns.ts";
import { spendingHeight } from "../unlock.ts";

/** What sending again needs of a wallet. */
export type Sender = {
  readonly state: Readonly<Pick<WalletState, "outgoing" | "background">>;
  readonly daemon: Daemon;
  now(): { readonly seconds: number };
  outputOf(keyImage: Uint8Array): OwnedOutput | undefined;
  commit(change: WalletChange): Promise<void>;
  /** Throws where a change could not be kept: what is in memory alone must not leave. */
  checkWritten(): void;
};

/** Of one refresh; a node takes one in some 50 ms. */
const MAX_PER_ROUND = 100;
/** After so long a refresh leaves the rest to the next: whoever wants to spend waits meanwhile. */
const MAX_SECONDS = 10;

/** Whether nothing else spends what it spends. */
function isStillPossible(payment: OutgoingPayment, sender: Sender): boolean {
  const id = toHex(payment.txHash);
  return payment.keyImages.every((image) => {
    const output = sender.outputOf(image);
    if (output === undefined) return true;
    return spendingHeight(output) === undefined && (output.pendingSpend ?? id) === id;
  });
}

/** Whether a block spends one of its inputs, which is then another's. */
function isOvertaken({ keyImages }: OutgoingPayment, sender: Sender): boolean {
  return keyImages.some((image) => {
    const output = sender.outputOf(image);
    return output !== undefined && spendingHeight(output) !== undefined;
  });
}

/** Whether the node may lack it: nothing is known of its verdict, or it is out of the pool for longer than usual. */
function isWanting(payment: OutgoingPayment, seconds: number): boolean {
  if (payment.blob === undefined) return false;
  if (payment.state === "signed") return true;
  return (payment.state === "missing" || payment.state === "forgotten") && isLate(payment, seconds);
}

/** Undefined where the node has it now, else why not. Throws `WalletRefusal` when the node can't be asked. */
async function offer(sender: Sender, payment: OutgoingPayment, relay: Relay): Promise<string | undefined> {
  const txHash = toHex(payment.txHash);
  const { accepted, reason } = await relay(payment.blob!);
  // Of what was mined in the meantime the node says that it is spent twice.
  if (!accepted && !(await isKnownTo(sender.daemon, txHash))) return reason;
  await sender.commit({ kind: "outgoingState", txHash, state: "pending" });
  return undefined;
}

/**
 * Gives the node what it may not have, up to 100 transactions, oldest first. What it refuses, after the time in which
 * it could have come to the pool by itself, counts as failed, and its inputs are free. Left to the next time while
 * something is spent, where the node does not answer, and while the spend secret is away.
 */
export async function sendUnseen(sender: Sender, spending: TaskQueue): Promise<void> {
  if (sender.state.background !== undefined) return;
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
  for (const payment of sender.state.outgoing.values()) {
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

/** Whether the node refuses it; not where it has no verdict on this one. Throws `WalletRefusal` when it can't be asked. */
async function isRefused(sender: Sender, payment: OutgoingPayment, relay: Relay): Promise<boolean> {
  try {
    return (await offer(sender, payment, relay)) !== undefined;
  } catch (error) {
    if (!(error instanceof WalletRefusal) || isAway.has(error.kind)) throw error;
    return false;
  }
}

/** Refusals that say that the node can't be asked for anything. */
const isAway: ReadonlySet<WalletRefusal["kind"]> = new Set(["NO_DAEMON_CONNECTION", "DAEMON_IS_BUSY"]);

/**
 * Has the node take those of these transactions (ids of 32 bytes) that it may not have, whatever was thought of them.
 * Throws `WalletRefusal` where it does not take one that no node has taken before.
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

/** A rescan forgets what had failed; what was mined is found again by it. */
async function checkKnown({ daemon }: Sender, id: string): Promise<void> {
  if (await isKnownTo(daemon, id)) return;
  throw new WalletRefusal(
    "GENERIC_TRANSFER_ERROR",
    `transaction ${id} is not known any more: a rescan has forgotten it, and the node does not have it`,
  );
}

/** A transaction that the node did not take. */
export function rejected(reason: string): WalletRefusal {
  const because = reason === "" ? "" : ` (${reason})`;
  return new WalletRefusal("GENERIC_TRANSFER_ERROR", `transaction was rejected by daemon${because}`);
}
