import type { ExactObject } from "@anulo/devnet";
import { demand, listOf, type Stage } from "./stage.ts";

const everything = { in: true, out: true, pending: true, failed: true, pool: true };

async function entriesOf(stage: Stage, amount: bigint): Promise<ExactObject[]> {
  const { out, pending, failed } = await stage.ask("get_transfers", everything);
  return [out, pending, failed].flatMap(listOf).filter((entry) => BigInt(String(entry.amount)) === amount);
}

/** Ids of the transactions that paid bob the amount, those of the pool included. */
async function receivedOf({ world }: Stage, amount: bigint): Promise<string[]> {
  await world.bob.ask("refresh");
  const { in: mined, pool } = await world.bob.ask("get_transfers", everything);
  return [mined, pool]
    .flatMap(listOf)
    .filter((entry) => BigInt(String(entry.amount)) === amount)
    .map(({ txid }) => String(txid));
}

export type Intent = {
  /** What a client does who finds that nothing came of it. */
  readonly again: () => Promise<unknown>;
  /** Whether this wallet keeps the transaction's key. */
  readonly keepsKey?: boolean;
};

/**
 * A client who has lost the answer looks whether the wallet knows of the payment, and asks again if not; what the
 * wallet only kept, it sends by itself. In the end the amount was paid once, and its key is there.
 */
export async function settle(stage: Stage, { again, keepsKey = true }: Intent): Promise<void> {
  const { amount, world } = stage;
  const isPaid = (await receivedOf(stage, amount)).length > 0;
  const isKnown = (await entriesOf(stage, amount)).length > 0;
  demand(isPaid || !isKnown, "a payment that was kept was not sent when the wallet was opened");
  if (!isPaid) await again();
  await stage.mine();
  await stage.ask("refresh");
  const paid = await receivedOf(stage, amount);
  demand(paid.length === 1, `${amount} was paid ${paid.length} times`);
  const payments = (await entriesOf(stage, amount)).filter(({ type }) => type === "out");
  demand(
    payments.length === 1 && payments[0]!.txid === paid[0],
    `the wallet lists ${payments.length} payments of ${amount}`,
  );
  if (!keepsKey) return;
  const { tx_key } = await stage.ask("get_tx_key", { txid: paid[0]! });
  const claim = { txid: paid[0]!, tx_key: String(tx_key), address: world.bob.address };
  const { received } = await world.bob.ask("check_tx_key", claim);
  demand(BigInt(String(received)) === amount, `the key of ${paid[0]} is not the right one`);
}
