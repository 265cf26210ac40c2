/** Calls that spend are executed once per key, however often they are repeated. */
import type { MaybePromise } from "@anulo/limits";
import { equalBytes, toHex } from "@anulo/protocol";
import { sendMissing } from "../actions/send-again.ts";
import { alsoSaying, type Submission } from "../actions/submit.ts";
import { WalletRefusal } from "../refusal.ts";
import type { Intent, IntentHead } from "../state.ts";
import type { Wallet } from "../wallet.ts";
import type { Allowance, Reservation } from "./allowance.ts";
import type { Asked } from "./asked.ts";
import { packAnswer, unpackAnswer } from "./packed.ts";

/** A payment under way. */
export type OpenIntent = {
  /**
   * To be awaited before anything is signed, with the amount to be spent (atomic units, fees included), and again for
   * everything signed later: once it resolves, the payment is durable and counted. Throws `WalletRefusal` if it exceeds
   * what the caller may spend.
   */
  readonly plan: (amount: bigint) => Promise<void>;
  /**
   * Returns what is stored with the transactions that are sent (ids, hexadecimal), for callers that repeat the call.
   * Throws `WalletRefusal` if the caller may not send what was not counted.
   */
  readonly submission: (
    answer: object,
    txHashes: readonly string[],
    refuseAs?: Submission["refuseAs"],
  ) => Promise<Submission>;
  /**
   * Stores a response that contains transactions (ids of 32 bytes), or the data to build them, for the caller to
   * continue with.
   */
  readonly handOut: (answer: object, txHashes: readonly Uint8Array[]) => Promise<void>;
};

/** The wallet that pays, and what its caller may spend of it; `undefined` means all. */
export type Payer = { readonly wallet: Wallet; readonly allowance: Allowance | undefined };

type Steps<P, R> = {
  /** Runs outside the queue of the wallet's payments; skipped if the call was made before. */
  readonly prepare?: () => Promise<P>;
  readonly perform: (prepared: P, intent: OpenIntent) => Promise<R>;
};

/**
 * Executes a payment; the payments of a wallet run one after the other. A call repeated with the same key returns the
 * first response, once the node has all that was signed; if the first call is still under way, the repetition waits for
 * it. An error before anything was signed is not stored. Throws `WalletRefusal`: that of the first call, or that the
 * key belongs to another call.
 */
export async function payOnce<R extends object, P = undefined>(
  payer: Payer,
  asked: MaybePromise<Asked>,
  { prepare, perform }: Steps<P, R>,
): Promise<R> {
  const { wallet } = payer;
  const request = await asked;
  const isMade = madeBefore(wallet, request)?.outcome !== undefined;
  const prepared = isMade ? undefined : await prepare?.();
  return await wallet.exclusively(async () => {
    wallet.checkWritten();
    const previous = madeBefore(wallet, request);
    if (previous?.outcome !== undefined) return (await answerAgain(wallet, previous.outcome)) as R;
    const head = headOf(wallet, request, previous);
    const counted = new Counted(payer.allowance, head.key);
    try {
      return await perform(prepared as P, openIntent({ wallet, counted }, { request, previous, head }));
    } catch (error) {
      // If this can't be written the amount stays counted; the caller receives the error of the payment.
      await counted.giveUp().catch(() => undefined);
      throw error;
    }
  });
}

/** The intent with this key. Throws `WalletRefusal` if it belongs to another call. */
function madeBefore(wallet: Wallet, { key, method, digest }: Asked): Intent | undefined {
  const previous = key === undefined ? undefined : wallet.intents.of(key);
  if (previous === undefined || (previous.method === method && equalBytes(previous.asked, digest)))
    return previous;
  throw new WalletRefusal(
    "IDEMPOTENCY_KEY_REUSED",
    `the idempotency key was given before, with ${previous.method} and other params`,
  );
}

async function answerAgain(wallet: Wallet, outcome: NonNullable<Intent["outcome"]>): Promise<object> {
  const ids = outcome.txHashes.map(toHex);
  if (outcome.kind === "refused")
    throw alsoSaying(new WalletRefusal(outcome.refusal, outcome.message), ids, "");
  if (outcome.kind === "sending")
    await sendMissing(wallet, outcome.txHashes).catch((error: unknown) => {
      if (!(error instanceof WalletRefusal)) throw error;
      throw alsoSaying(error, ids, `sent before, or kept to be sent: ${ids.join(", ")}`);
    });
  return await unpackAnswer(outcome.answer!);
}

function headOf(wallet: Wallet, { key, method, digest }: Asked, previous: Intent | undefined): IntentHead {
  const createdAt = previous?.createdAt ?? wallet.now().seconds;
  if (key !== undefined) return { key, asked: digest, method, createdAt };
  return { key: toHex(wallet.runtime.random(16)), asked: new Uint8Array(0), method, createdAt };
}

/** The amount that a payment reserves of its caller's allowance. */
class Counted {
  readonly #allowance: Allowance | undefined;
  readonly #key: string;
  #amount = 0n;
  #reservation: Reservation | undefined;

  constructor(allowance: Allowance | undefined, key: string) {
    this.#allowance = allowance;
    this.#key = key;
  }

  async add(amount: bigint): Promise<void> {
    if (this.#allowance === undefined) return;
    const spend = { key: this.#key, amount: this.#amount + amount };
    this.#reservation = await this.#allowance.reserve(spend);
    this.#amount += amount;
  }

  /** To be called before transactions are sent: the amount counted so far is not released any more. */
  async leave(txHashes: readonly string[]): Promise<void> {
    const reservation = this.#reservation;
    this.#reservation = undefined;
    if (reservation !== undefined) await reservation.settle(txHashes);
    else await this.#allowance?.passOn(txHashes);
  }

  /** Releases the amount, since nothing was sent, unless `leave` was called. */
  async giveUp(): Promise<void> {
    const reservation = this.#reservation;
    this.#reservation = undefined;
    await reservation?.release();
  }
}

type Intended = { readonly request: Asked; readonly previous: Intent | undefined; readonly head: IntentHead };

function openIntent(
  { wallet, counted }: { readonly wallet: Wallet; readonly counted: Counted },
  { request, previous, head: intent }: Intended,
): OpenIntent {
  const isKept = request.key !== undefined;
  let isPlanned = previous !== undefined;
  return {
    plan: async (amount) => {
      await counted.add(amount);
      if (isKept && !isPlanned) await wallet.commit({ kind: "intent", intent });
      isPlanned = true;
    },
    submission: async (answer, txHashes, refuseAs) => {
      await counted.leave(txHashes);
      return { intent, answer: isKept ? await packAnswer(answer) : undefined, refuseAs };
    },
    handOut: async (answer, txHashes) => {
      await counted.leave(txHashes.map(toHex));
      if (!isKept) return;
      const outcome = { kind: "handedOut", txHashes, answer: await packAnswer(answer) } as const;
      await wallet.commit({ kind: "intent", intent, outcome });
    },
  };
}
