/** Calls that spend, made once for each key however often they are repeated. */
import { equalBytes, toHex } from "@anulo/protocol";
import { sendMissing } from "../actions/send-again.ts";
import { alsoSaying, type Submission } from "../actions/submit.ts";
import { WalletRefusal } from "../refusal.ts";
import type { Intent, IntentHead } from "../state.ts";
import type { Wallet } from "../wallet.ts";
import type { Asked } from "./asked.ts";
import { packAnswer, unpackAnswer } from "./packed.ts";

/** A spend under way. */
export type OpenIntent = {
  /** Durable before anything is signed, where the caller gave a key. */
  readonly plan: () => Promise<void>;
  /** What is kept with the transactions that are sent, for whoever repeats the call. */
  readonly submission: (answer: object, refuseAs?: Submission["refuseAs"]) => Promise<Submission>;
  /** Keeps an answer that hands out transactions (ids of 32 bytes), or what makes them, for the caller to go on with. */
  readonly handOut: (answer: object, txHashes: readonly Uint8Array[]) => Promise<void>;
};

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
  wallet: Wallet,
  asked: Asked,
  { prepare, perform }: Steps<P, R>,
): Promise<R> {
  const isMade = madeBefore(wallet, asked)?.outcome !== undefined;
  const prepared = isMade ? undefined : await prepare?.();
  return await wallet.exclusively(async () => {
    wallet.checkWritten();
    const known = madeBefore(wallet, asked);
    if (known?.outcome !== undefined) return (await answerAgain(wallet, known.outcome)) as R;
    return await perform(prepared as P, openIntent(wallet, asked, known));
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

function openIntent(wallet: Wallet, asked: Asked, known: Intent | undefined): OpenIntent {
  const { key, method, digest } = asked;
  const isKept = key !== undefined;
  const createdAt = known?.createdAt ?? wallet.now().seconds;
  const intent: IntentHead = isKept
    ? { key, asked: digest, method, createdAt }
    : { key: toHex(wallet.runtime.random(16)), asked: new Uint8Array(0), method, createdAt };
  let isPlanned = known !== undefined;
  return {
    plan: async () => {
      if (isKept && !isPlanned) await wallet.commit({ kind: "intent", intent });
      isPlanned = true;
    },
    submission: async (answer, refuseAs) => ({
      intent,
      answer: isKept ? await packAnswer(answer) : undefined,
      refuseAs,
    }),
    handOut: async (answer, txHashes) => {
      if (!isKept) return;
      const outcome = { kind: "handedOut", txHashes, answer: await packAnswer(answer) } as const;
      await wallet.commit({ kind: "intent", intent, outcome });
    },
  };
}
