/**
 * Derives the events of a wallet from its ledger before and after each change. They depend on nothing else, so the same
 * changes yield the same events when they are read again; the cost of a change depends only on what it touches.
 */
import { type MaybePromise, runSliced, whenReady } from "@anulo/limits";
import { toHex } from "@anulo/protocol";
import type { WalletChange } from "../changes.ts";
import { DEEP } from "../ledger/apply-blocks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { IncomingPayment, Intent, OutgoingPayment } from "../state.ts";
import type { Now } from "../unlock.ts";
import { paymentEvent, paymentKey, transferEvent, type UndoneReason, type WalletEvent } from "./event.ts";
import { type Followed, followedPayment, followedTransfer, keyOf, USUAL_CONFIRMATIONS } from "./followed.ts";
import { LostPayments } from "./lost-payments.ts";
import { RememberedPayments } from "./remembered-payments.ts";
import { isOwnChange, ResetMemory } from "./reset-memory.ts";
import { Unsettled } from "./settling.ts";
import {
  idsOf,
  isForgetting,
  mayFindAgain,
  receiptsTakenBy,
  reportedTo,
  transfersUndoneBy,
} from "./touched-by.ts";
import { newsOf, stageOf, type TransferStage } from "./transfer-stage.ts";

/** The ledger before a change, as far as the change may touch it. */
type Before = {
  readonly height: number;
  /** Number of payments that the change leaves in place: those it finds come after them. */
  readonly incoming: number;
  /** Reported payments that the change removes, or completes. */
  readonly undone: readonly IncomingPayment[];
  readonly undoneTransfers: readonly OutgoingPayment[];
  readonly stages: ReadonlyMap<
    string,
    { readonly stage: TransferStage; readonly payment: OutgoingPayment | undefined }
  >;
  readonly pool: readonly IncomingPayment[];
  readonly doubleSpent: ReadonlySet<string>;
  readonly rescanTo: number;
};

export class EventDeriver {
  readonly #ledger: Ledger;
  readonly #confirmations: readonly number[];
  #unsettled = new Unsettled<Followed>();
  /** Payments of the pool's list that are in blocks by now. */
  readonly #mined = new Set<string>();
  /** Payments that have left the pool: only a scan to the tip shows whether a block contains them. */
  readonly #leftPool = new Map<string, IncomingPayment>();
  /** What was reported before blocks are scanned again. */
  #lastSteps = new RememberedPayments();
  #knownTransfers = new Map<string, TransferStage>();
  /** What the next reset needs, as far as it is read. */
  #resetMemory: ResetMemory | undefined;
  readonly lost: LostPayments = new LostPayments();
  /** Idempotency keys of calls by the transactions that these created. */
  readonly #keys = new Map<string, string>();
  /**
   * True while blocks are scanned again and it is not known what was reported of them: nothing is reported of them
   * then.
   */
  #isBlind: boolean;

  private constructor(ledger: Ledger, confirmations: readonly number[]) {
    this.#ledger = ledger;
    this.#confirmations = confirmations;
    this.#isBlind = ledger.state.rescanTo > ledger.state.height && ledger.state.reorganisedFrom === 0;
  }

  /** Reads the ledger's items once, in slices; the ledger must not change meanwhile. */
  static of(ledger: Ledger, confirmations = USUAL_CONFIRMATIONS): MaybePromise<EventDeriver> {
    const deriver = new EventDeriver(ledger, confirmations);
    return whenReady(runSliced(deriver.#survey()), () => deriver);
  }

  *#survey(): Generator<void> {
    const { state } = this.#ledger;
    const now = this.#now();
    const knownAt = ({ height }: { height: number }) => this.#now(reportedTo(state, height));
    const { incoming, outgoing } = state;
    for (const waiting of state.pool) {
      const key = paymentKey(waiting);
      const ofSame = incoming.placesOf(waiting.txHash).map((place) => incoming.at(place));
      if (ofSame.some((payment) => paymentKey(payment) === key)) this.#mined.add(key);
      yield;
    }
    for (const place of incoming.unsettled(this.#depth, now.height)) {
      yield;
      const lock = incoming.lockAt(place);
      if (this.#isOver(lock, knownAt(lock))) continue;
      const payment = incoming.at(place);
      if (!this.#isOwnChange(payment))
        this.#follow(followedPayment(payment, this.#confirmations), knownAt(payment));
    }
    for (const payment of outgoing.unsettled(this.#depth, now.height)) {
      this.#follow(followedTransfer(payment), knownAt(payment));
      yield;
    }
    for (const intent of state.intents) {
      this.#noteIntent(intent);
      yield;
    }
  }

  /** The next unlock time (seconds since 1970) of an item that is locked until a time. */
  get nextTime(): bigint | undefined {
    return this.#unsettled.nextTime(this.#ledger.state.passedSeconds);
  }

  /**
   * Whether the next scan of the pool must report the end of a scan to the tip (`isScanned`), even if the pool is
   * unchanged.
   */
  get waitsForScan(): boolean {
    return this.#leftPool.size > 0;
  }

  /** Reads what a reset needs, in steps before it, between which other changes may be observed. */
  prepareReset(): Generator<void> {
    this.#resetMemory = this.#newResetMemory();
    return this.#resetMemory.read();
  }

  /** Applies the change; returns the events that it causes. */
  observe(change: WalletChange, apply: () => void): WalletEvent[] {
    // What comes into a block again was in none before.
    const earlier = mayFindAgain(change) ? [...this.lost.tell(Number.POSITIVE_INFINITY)] : [];
    if (change.kind === "reset") return [...earlier, this.#observeReset(change, apply)];
    if (this.#resetMemory !== undefined) for (const id of idsOf(change)) this.#resetMemory.touch(id);
    const before = this.#before(change);
    if (isForgetting(change)) this.#remember(before);
    apply();
    return [...earlier, ...this.#tell(change, before), ...this.lost.tell()];
  }

  #newResetMemory(): ResetMemory {
    return new ResetMemory(this.#ledger.state, {
      payments: this.#lastSteps,
      transfers: this.#knownTransfers,
    });
  }

  /** Remembers everything that was reported, since all blocks are scanned again. */
  #observeReset({ hard }: Extract<WalletChange, { kind: "reset" }>, apply: () => void): WalletEvent {
    const { payments, transfers } = (this.#resetMemory ?? this.#newResetMemory()).finish();
    this.#resetMemory = undefined;
    this.#lastSteps = payments;
    this.#knownTransfers = transfers;
    this.#unsettled = new Unsettled();
    this.#mined.clear();
    const { height } = this.#ledger.state;
    apply();
    return { type: "wallet_rescan", height, hard };
  }

  #now(height = this.#ledger.state.height): Now {
    const { network, passedSeconds } = this.#ledger.state;
    return { network, height, seconds: passedSeconds };
  }

  /** Whether an item is so deep, and not locked, that no further event follows. */
  #isOver({ height, unlockTime }: { height: number; unlockTime: bigint }, { height: tip }: Now): boolean {
    return height + this.#depth <= tip && unlockTime <= BigInt(tip);
  }

  /** Number of blocks after which an item that is not locked causes no further event. */
  get #depth(): number {
    return Math.max(DEEP, this.#confirmations.at(-1) ?? 0);
  }

  #before(change: WalletChange): Before {
    const { state } = this.#ledger;
    const receipts = receiptsTakenBy(change, state);
    const pool = change.kind === "pool" ? state.pool.filter((payment) => !this.#isOwnChange(payment)) : [];
    return {
      height: state.height,
      incoming: state.incoming.length - receipts.length,
      // Change that was recognised as such was not reported.
      undone: receipts.filter((payment) => !this.#isOwnChange(payment)),
      undoneTransfers: transfersUndoneBy(change, state),
      stages: new Map(idsOf(change).map((id) => [id, this.#stageBefore(id)])),
      pool,
      doubleSpent: new Set(state.pool.filter(({ doubleSpendSeen }) => doubleSpendSeen).map(paymentKey)),
      rescanTo: state.rescanTo,
    };
  }

  #stageBefore(id: string) {
    const payment = this.#ledger.state.outgoing.get(id);
    const stage = stageOf(payment);
    const isGone = stage === "none" || stage === "forgotten";
    return { stage: isGone ? (this.#knownTransfers.get(id) ?? stage) : stage, payment };
  }

  /** Remembers what was reported of blocks that are scanned again. */
  #remember({ undone, undoneTransfers }: Before): void {
    for (const payment of undone) {
      this.#lastSteps.add(payment);
      this.#unsettled.drop(paymentKey(payment));
    }
    for (const { txHash } of undoneTransfers) {
      this.#knownTransfers.set(toHex(txHash), "mined");
      this.#unsettled.drop(toHex(txHash));
    }
  }

  *#tell(change: WalletChange, before: Before): Generator<WalletEvent> {
    const { state } = this.#ledger;
    switch (change.kind) {
      case "eventSource":
        yield { type: "events_started", height: state.height };
        return;
      case "time":
        yield* this.#steps(this.#unsettled.dueByTime(this.#now()));
        return;
      case "pool":
        yield* this.#tellPool(before, change.isScanned === true);
        return;
      case "intent":
        yield* this.#tellIntent(change);
        break;
      case "takenOver":
        for (const { txHash } of change.payments ?? []) this.#followQuietly(toHex(txHash));
        return;
    }
    if (isForgetting(change)) return;
    yield* this.#tellUndone(change, before);
    yield* this.#tellStages(before);
    const pooled = new Set(state.pool.map(paymentKey));
    const receipts = state.incoming.slice(before.incoming);
    // Some of the transactions that are completed remain payments.
    const stays = new Set(change.kind === "keyImages" ? before.undone.map(paymentKey) : []);
    for (const payment of receipts)
      if (!stays.has(paymentKey(payment))) yield* this.#receiptEvents(payment, pooled, before);
    yield* this.#steps(this.#unsettled.dueSince(before.height, this.#now()));
    if (change.kind === "blocks") yield* this.#endRescan(before);
  }

  *#tellUndone(change: WalletChange, { undone, undoneTransfers, incoming }: Before): Generator<WalletEvent> {
    const isLearning = change.kind === "keyImages";
    const reason: UndoneReason = isLearning ? "own_change" : "reorganisation";
    const stays = new Set(isLearning ? this.#ledger.state.incoming.slice(incoming).map(paymentKey) : []);
    for (const payment of undone) {
      const key = paymentKey(payment);
      if (stays.has(key)) continue;
      this.#unsettled.drop(key);
      this.#mined.delete(key);
      this.#lastSteps.forget(payment);
      yield paymentEvent("payment_undone", payment, { reason });
    }
    for (const payment of undoneTransfers) {
      const id = toHex(payment.txHash);
      this.#unsettled.drop(id);
      this.#knownTransfers.delete(id);
      yield transferEvent("transfer_undone", payment, this.#keys.get(id));
    }
  }

  *#tellStages({ stages, undoneTransfers, rescanTo }: Before): Generator<WalletEvent> {
    const undone = new Set(undoneTransfers.map(({ txHash }) => toHex(txHash)));
    for (const [id, { stage, payment: former }] of stages) {
      const payment = this.#ledger.state.outgoing.get(id);
      const after = stageOf(payment);
      const type = newsOf(undone.has(id) ? "none" : stage, after);
      const isQuiet =
        this.#isBlind && payment !== undefined && after === "mined" && payment.height < rescanTo;
      const newest = payment ?? former;
      if (type !== undefined && !isQuiet && newest !== undefined && (after !== "none" || stage !== "none"))
        yield transferEvent(type, newest, this.#keys.get(id));
      if (after !== "mined" || payment === undefined) continue;
      const wasMined = isQuiet || (stage === "mined" && !undone.has(id));
      if (wasMined && rescanTo === 0) continue;
      yield* this.#followFrom(followedTransfer(payment), wasMined ? rescanTo : 0);
    }
  }

  *#receiptEvents(
    payment: IncomingPayment,
    pooled: ReadonlySet<string>,
    { rescanTo }: Before,
  ): Generator<WalletEvent> {
    if (this.#isOwnChange(payment)) return;
    const key = paymentKey(payment);
    const last = this.#lastSteps.find(payment);
    const wasInBlock = last === undefined ? this.#isBlind && payment.height < rescanTo : last === "block";
    this.#leftPool.delete(key);
    if (pooled.has(key)) this.#mined.add(key);
    if (!wasInBlock) yield paymentEvent("payment_in_block", payment);
    yield* this.#followFrom(followedPayment(payment, this.#confirmations), wasInBlock ? rescanTo : 0);
  }

  #isOwnChange(payment: IncomingPayment): boolean {
    return isOwnChange(this.#ledger.state, payment);
  }

  *#tellPool({ pool, doubleSpent }: Before, isScanned: boolean): Generator<WalletEvent> {
    const { state } = this.#ledger;
    const waitedFor = isScanned ? [...this.#leftPool.keys()] : [];
    const before = new Set(pool.map(paymentKey));
    const after = new Set(state.pool.map(paymentKey));
    for (const payment of pool) {
      const key = paymentKey(payment);
      if (after.has(key) || this.#mined.delete(key)) continue;
      this.#leftPool.set(key, payment);
      this.#lastSteps.forget(payment);
    }
    for (const payment of state.pool) {
      const key = paymentKey(payment);
      if (this.#isOwnChange(payment)) continue;
      const isBack = this.#leftPool.delete(key);
      const isNew = !before.has(key) && !isBack && !this.#lastSteps.has(payment);
      if (isNew) yield paymentEvent("payment_in_pool", payment);
      if (payment.doubleSpendSeen && !doubleSpent.has(key))
        yield paymentEvent("payment_double_spent", payment);
    }
    for (const key of waitedFor) {
      const payment = this.#leftPool.get(key);
      if (payment !== undefined && this.#leftPool.delete(key)) yield paymentEvent("payment_dropped", payment);
    }
    if (state.rescanTo > 0) return;
    for (const payment of this.#lastSteps.waiting()) {
      const key = paymentKey(payment);
      if (!after.has(key)) this.#leftPool.set(key, payment);
    }
    this.#lastSteps.clear();
  }

  *#tellIntent({ intent, outcome }: Extract<WalletChange, { kind: "intent" }>): Generator<WalletEvent> {
    this.#noteIntent({ ...intent, outcome });
    const { method, key } = intent;
    if (outcome === undefined) yield { type: "transfer_planned", method, idempotency_key: key };
  }

  /** Generated keys are skipped: no caller knows them. */
  #noteIntent({ key, asked, outcome }: Intent): void {
    if (asked.length === 0 || outcome === undefined || outcome.kind === "refused") return;
    const { outgoing, height } = this.#ledger.state;
    for (const txHash of outcome.txHashes) {
      const id = toHex(txHash);
      const payment = outgoing.get(id);
      const isFinal = payment?.state === "confirmed" && payment.height + DEEP <= height;
      if (!isFinal) this.#keys.set(id, key);
    }
  }

  #followQuietly(id: string): void {
    const payment = this.#ledger.state.outgoing.get(id);
    if (payment?.state === "confirmed") this.#follow(followedTransfer(payment), this.#now());
  }

  #follow(followed: Followed, since: Now | undefined): void {
    this.#unsettled.add(keyOf(followed), followed, this.#ledger.state.height, since);
  }

  /** Follows an item that is in a block; everything that was true at `knownTo` blocks has been reported. */
  *#followFrom(followed: Followed, knownTo: number): Generator<WalletEvent> {
    this.#follow(followed, knownTo === 0 ? undefined : this.#now(knownTo));
    for (const step of this.#unsettled.stepsOf(keyOf(followed), this.#now()))
      yield this.#stepEvent({ followed, step });
  }

  *#steps(due: ReturnType<Unsettled<Followed>["dueSince"]>): Generator<WalletEvent> {
    for (const each of due) yield this.#stepEvent(each);
  }

  #stepEvent({
    followed: { isPayment, item },
    step,
  }: {
    followed: Followed;
    step: ReturnType<Unsettled<Followed>["stepsOf"]>[0];
  }) {
    if (isPayment) {
      const payment = item as IncomingPayment;
      if (step.what === "unlocked") return paymentEvent("payment_unlocked", payment);
      return paymentEvent("payment_confirmed", payment, { confirmations: step.confirmations });
    }
    const payment = item as OutgoingPayment;
    const key = this.#keys.get(toHex(payment.txHash));
    if (step.what === "unlocked") return transferEvent("transfer_unlocked", payment, key);
    this.#keys.delete(toHex(payment.txHash));
    return transferEvent("transfer_final", payment, key);
  }

  /** Begins to tell what was reported and was not found again, once the rescan has reached its former height. */
  *#endRescan({ rescanTo }: Before): Generator<WalletEvent> {
    const { state } = this.#ledger;
    if (rescanTo === 0 || state.rescanTo > 0) return;
    // What was not found again can't be told: whoever follows has to look.
    if (this.#isBlind) yield { type: "events_started", height: state.height };
    this.#isBlind = false;
    this.#knownTransfers.clear();
    // Those in the pool are remembered until its next scan.
    this.lost.begin(this.#lastSteps.takeLost(), state.settings.refreshFromHeight);
  }
}
