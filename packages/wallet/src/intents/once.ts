/** Calls that spend, made once for each key however often they are repeated. */
import { equalBytes, toHex } from "@anulo/protocol";
import { sendMissing } from "../actions/send-again.ts";
import { alsoSaying, type Submission } from "../actions/submit.ts";
import { WalletRefusal } from "../refusal.ts";
import type { Intent, IntentHead } from "../state.ts";
import type { Wallet } from "../wallet.ts";
import type { Allowance, Reservation } from "./allowance.ts";
import type { Asked } from "./asked.ts";
import { packAnswer, unpackAnswer } from "./packed.ts";

/** A spend under way. */
export type OpenIntent = {
  /**
   * To be awaited before anything is signed, with the amount that leaves (atomic units, fees included), again for what
   * is signed after it: durable then, and counted. Throws `WalletRefusal` where it is more than the caller may spend.
   */
  readonly plan: (amount: bigint) => Promise<void>;
  /**
   * What is kept with the transactions that are sent (ids, hexadecimal), for whoever repeats the call. Throws
   * `WalletRefusal` where the caller may not send what was not counted.
   */
  readonly submission: (
    answer: object,
    txHashes: readonly string[],
    refuseAs?: Submission["refuseAs"],
  ) => Promise<Submission>;
  /** Keeps an answer that hands out transactions (ids of 32 bytes), or what makes them, for the caller to go on with. */
  readonly handOut: (answer: object, txHashes: readonly Uint8Array[]) => Promise<void>;
};

/** The wallet that pays, and what its caller may spend of it; undefined: all. */
export type Payer = { readonly wallet: Wallet; readonly allowance: Allowance | undefined };

type Steps<P, R> = {
  /** What needs no turn; left out where the call was made before. */
  readonly prepare?: () => Promise<P>;
  readonly perform: (prepared: P, intent: OpenIntent) => Promise<R>;
};

/**
 * The answer of a spend, which takes its turn among those of the wallet. Repeated with the same key it is answered what
 * was answered first, once the node has all that was signed; whoever repeats it while the first is under way waits for
 * it. A refusal before anything was signed is not kept. Throws `WalletRefusal`: that of the first, or that the key
 * stands for another call.
 */
export async function payOnce<R extends object, P = undefined>(
  payer: Payer,
  asked: Asked,
  { prepare, perform }: Steps<P, R>,
): Promise<R> {
  const { wallet } = payer;
  const isMade = madeBefore(wallet, asked)?.outcome !== undefined;
  const prepared = isMade ? undefined : await prepare?.();
  return await wallet.exclusively(async () => {
    wallet.checkWritten();
    const known = madeBefore(wallet, asked);
    if (known?.outcome !== undefined) return (await answerAgain(wallet, known.outcome)) as R;
    const head = headOf(wallet, asked, known);
    const counted = new Counted(payer.allowance, head.key);
    try {
      return await perform(prepared as P, openIntent({ wallet, counted }, { asked, known, head }));
    } catch (error) {
      // Where that can't be written it stays counted; what the caller hears is why the payment failed.
      await counted.giveUp().catch(() => undefined);
      throw error;
    }
  });
}

/** The intent with this key. Throws `WalletRefusal` where it is of another call. */
function madeBefore(wallet: Wallet, { key, method, digest }: Asked): Intent | undefined {
  const known = key === undefined ? undefined : wallet.intents.of(key);
  if (known === undefined || (known.method === method && equalBytes(known.asked, digest))) return known;
  throw new WalletRefusal(
    "IDEMPOTENCY_KEY_REUSED",
    `the idempotency key was given before, with ${known.method} and other params`,
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

function headOf(wallet: Wallet, { key, method, digest }: Asked, known: Intent | undefined): IntentHead {
  const createdAt = known?.createdAt ?? wallet.now().seconds;
  if (key !== undefined) return { key, asked: digest, method, createdAt };
  return { key: toHex(wallet.runtime.random(16)), asked: new Uint8Array(0), method, createdAt };
}

/** What a payment takes of its caller's allowance. */
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

  /** Before transactions leave: nothing gives back what is counted from here on. */
  async leave(txHashes: readonly string[]): Promise<void> {
    const reservation = this.#reservation;
    this.#reservation = undefined;
    if (reservation !== undefined) await reservation.settle(txHashes);
    else await this.#allowance?.passOn(txHashes);
  }

  /** Nothing has left, unless `leave` was called. */
  async giveUp(): Promise<void> {
    const reservation = this.#reservation;
    this.#reservation = undefined;
    await reservation?.release();
  }
}

type Intended = { readonly asked: Asked; readonly known: Intent | undefined; readonly head: IntentHead };

function openIntent(
  { wallet, counted }: { readonly wallet: Wallet; readonly counted: Counted },
  { asked, known, head: intent }: Intended,
): OpenIntent {
  const isKept = asked.key !== undefined;
  let isPlanned = known !== undefined;
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
