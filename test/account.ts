import type { Exact, ExactObject } from "@anulo/testkit";
import type { WalletActor } from "./actors.ts";

/** Answers in which lists have no promised order, put into one. */
function ordered(value: Exact): Exact {
  if (Array.isArray(value)) return value.map(ordered).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as ExactObject)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, ordered(item)]),
  );
}

const keyOf = (value: Exact): string =>
  JSON.stringify(value, (_, item) => (typeof item === "bigint" ? String(item) : item)) ?? "";

/** Everything a wallet says about what it received and sent, in a form in which two programs can be compared. */
export async function accountOf(wallet: WalletActor): Promise<ExactObject> {
  await wallet.refresh();
  const all = { all_accounts: true };
  const kinds = { in: true, out: true, pending: true, failed: true, pool: true };
  const incoming = (account: number) =>
    wallet.call("incoming_transfers", { transfer_type: "all", account_index: account });
  const account: ExactObject = {
    balance: await wallet.call("get_balance", all),
    accounts: await wallet.call("get_accounts"),
    transfers: ordered(await wallet.call("get_transfers", { ...all, ...kinds })),
    incoming: ordered(await Promise.all([0, 1, 2].map(incoming))),
    payments: ordered(await wallet.call("get_bulk_payments", {})),
  };
  return comparable(account) as ExactObject;
}

/** Without what only our answers have (`tx_size`), and the time at which a wallet first saw what waits in the pool. */
function comparable(value: Exact): Exact {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  const { tx_size: _, ...rest } = value as ExactObject;
  const kept = rest.type === "pool" || rest.type === "pending" ? { ...rest, timestamp: 0 } : rest;
  return Object.fromEntries(Object.entries(kept).map(([name, item]) => [name, comparable(item)]));
}
