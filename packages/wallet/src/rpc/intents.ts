/** Payments by the key of the call that created them. Declarations: @anulo/rpc wallet/intents. */
import { wallet as declared, implementFor } from "@anulo/rpc";
import { progressOf } from "../intents/progress.ts";
import { refusalCodes, WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";
import type { Intent } from "../state.ts";
import type { Wallet } from "../wallet.ts";

/** Maximum number in one response. */
const MAX_INTENTS = 1000;

const noSuchIntent = () =>
  new WalletRefusal("NO_SUCH_INTENT", "No payment of this wallet has this idempotency key");

function describe(intent: Intent, wallet: Wallet) {
  const { state, transactions } = progressOf(intent, wallet);
  const { key, method, createdAt, outcome } = intent;
  const error =
    outcome?.kind === "refused"
      ? { code: BigInt(refusalCodes[outcome.refusal]), message: outcome.message }
      : undefined;
  return {
    idempotency_key: key,
    method,
    state,
    timestamp: createdAt,
    transactions: transactions.map(({ txHash, state: of, height }) => ({
      tx_hash: txHash,
      state: of,
      height,
    })),
    ...(error !== undefined && { error }),
  };
}

export const intentHandlers = implementFor<WalletContext>()(declared.intents, {
  getIntent({ idempotency_key }, { opened: { wallet } }) {
    const intent = wallet.intents.of(idempotency_key);
    if (intent === undefined) throw noSuchIntent();
    return describe(intent, wallet);
  },
  listIntents({ after, limit }, { opened: { wallet } }) {
    const intents = wallet.intents.after(after, Math.min(limit, MAX_INTENTS));
    if (intents === undefined) throw noSuchIntent();
    return { intents: intents.map((intent) => describe(intent, wallet)) };
  },
});
