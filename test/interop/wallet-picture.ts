/** All that a wallet service says about its wallet, field by field, so that two services can be compared. */
import type { Exact, ExactObject } from "@anulo/testkit";
import { listOf } from "../actors.ts";
import type { Ask } from "./wallet-history.ts";

export type Picture = { readonly [field: string]: unknown };

const allKinds = { in: true, out: true, pending: true, failed: true, pool: true, all_accounts: true };

const sorted = (rows: readonly ExactObject[]): ExactObject[] =>
  rows.toSorted((a, b) => {
    const [one, other] = [a, b].map(({ txid, tx_hash, key_image, type, subaddr_index }) =>
      JSON.stringify([txid ?? tx_hash, key_image, type, subaddr_index]),
    );
    return one! < other! ? -1 : 1;
  });

/** Without the times of what waits in the pool: 0.18.5.3 takes them anew with its first look at the pool. */
export function withoutPoolTimes(picture: Picture): Picture {
  const isWaiting = (row: object) => "type" in row && row.type === "pool";
  const strip = (_: string, value: unknown) =>
    value !== null && typeof value === "object" && isWaiting(value) ? { ...value, timestamp: 0 } : value;
  const exact = (value: unknown) => (typeof value === "bigint" ? String(value) : value);
  return JSON.parse(JSON.stringify(picture, (name, value) => exact(strip(name, value))));
}

/** Every call that reads, of both accounts and all transactions. */
export async function pictureOf(ask: Ask, attributes: readonly string[]): Promise<Picture> {
  const transfers = await ask("get_transfers", allKinds);
  const rows = Object.values(transfers).flatMap((of) => listOf(of as Exact));
  const ids = [...new Set(rows.map(({ txid }) => String(txid)))].toSorted();
  const byId: Record<string, unknown> = {};
  const keys: Record<string, unknown> = {};
  for (const txid of ids) {
    for (const account_index of [0, 1]) {
      const asked = ask("get_transfer_by_txid", { txid, account_index });
      const found = asked.then(({ transfers: all }) => sorted(listOf(all)));
      byId[`${txid} ${account_index}`] = await found.catch((error: Error) => error.message);
    }
    keys[txid] = await ask("get_tx_key", { txid }).catch((error: Error) => error.message);
  }
  const { subaddress_accounts: accounts, ...totals } = await ask("get_accounts");
  const addresses: unknown[] = [];
  const incoming: Record<string, unknown> = {};
  const frozen: Record<string, unknown> = {};
  for (const { account_index = 0 } of listOf(accounts)) {
    addresses.push(await ask("get_address", { account_index }));
    const found = await ask("incoming_transfers", { transfer_type: "all", account_index });
    // Ours returns the size of the transaction, too: see DIFFERENCES.md.
    const outputs = sorted(listOf(found.transfers).map(({ tx_size: _, ...output }) => output));
    incoming[String(account_index)] = outputs;
    for (const { key_image } of outputs)
      frozen[String(key_image)] = (await ask("frozen", { key_image: key_image! })).frozen;
  }
  const values: Record<string, unknown> = {};
  for (const key of attributes)
    values[key] = await ask("get_attribute", { key }).catch((error: Error) => error.message);
  const { signed_key_images, offset } = await ask("export_key_images", { all: true });
  return {
    transfers: Object.fromEntries(
      Object.entries(transfers).map(([kind, of]) => [kind, sorted(listOf(of as Exact))]),
    ),
    byId,
    keys,
    notes: ids.length === 0 ? [] : (await ask("get_tx_notes", { txids: ids })).notes,
    accounts,
    totals,
    tags: await ask("get_account_tags"),
    addresses,
    // Ours returns the payment id, too: see DIFFERENCES.md.
    book: listOf((await ask("get_address_book")).entries).map(({ index, address, description }) => [
      index,
      address,
      description,
    ]),
    incoming,
    frozen,
    balance: await ask("get_balance", { all_accounts: true }),
    // The signatures are random.
    keyImages: [offset, listOf(signed_key_images).map(({ key_image }) => key_image)],
    attributes: values,
    height: await ask("get_height"),
  };
}
