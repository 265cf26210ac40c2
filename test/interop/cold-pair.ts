/** A view-only wallet and the one that signs for it, which has never seen a node. */
import assert from "node:assert/strict";
import { CallFailed, call, type ExactObject } from "@anulo/testkit";
import { bigintOf, listOf, type Side, type Stage, type WalletActor } from "../actors.ts";
import { words } from "./words.ts";

export type Ask = (method: string, params?: ExactObject) => Promise<ExactObject>;

/** A wallet with the view key alone, and one with all keys that has never seen a node. */
export type Pair = { readonly hot: Ask; readonly cold: Ask };

export async function openPair(
  stage: Stage,
  sides: { hot: Side; cold: Side },
  daemonPort: number,
): Promise<Pair> {
  const open = async (side: Side, port?: number): Promise<Ask> => {
    const { url } = await stage.service(side, port);
    return (method, params = {}) => call(url, method, params);
  };
  const [hot, cold] = [await open(sides.hot, daemonPort), await open(sides.cold)];
  const names = { filename: "wallet", password: "" };
  const { address } = await cold("restore_deterministic_wallet", {
    ...names,
    seed: words.alice,
    restore_height: 0,
  });
  const { key: viewkey } = await cold("query_key", { key_type: "view_key" });
  await hot("generate_from_keys", { ...names, address: address!, viewkey: viewkey!, restore_height: 0 });
  return { hot, cold };
}

async function isRefused(ask: Ask, method: string, params: ExactObject): Promise<boolean> {
  try {
    await ask(method, params);
    return false;
  } catch (error) {
    if (error instanceof CallFailed) return true;
    throw error;
  }
}

/** Changes of a byte of the magic, of the body, and of the signature over it. */
function mutationsOf(hex: string): string[] {
  return [2, hex.length >> 1, hex.length - 2].map(
    (at) => hex.slice(0, at) + (hex[at] === "0" ? "1" : "0") + hex.slice(at + 1),
  );
}

async function refusesChanges(ask: Ask, method: string, { field, hex }: { field: string; hex: string }) {
  for (const changed of mutationsOf(hex))
    assert.ok(await isRefused(ask, method, { [field]: changed }), method);
}

/** Outputs go one way, key images come back; answers how many outputs the cold wallet knows. */
export async function exchange({ hot, cold }: Pair, all: boolean): Promise<bigint> {
  const { outputs_data_hex } = await hot("export_outputs", { all });
  await refusesChanges(cold, "import_outputs", { field: "outputs_data_hex", hex: String(outputs_data_hex) });
  const { num_imported } = await cold("import_outputs", { outputs_data_hex: outputs_data_hex! });
  const { offset = 0, signed_key_images = [] } = await cold("export_key_images", { all });
  const images = listOf(signed_key_images);
  const [first] = images;
  if (first !== undefined && all) {
    const [, second] = images;
    const swapped = [{ ...first, signature: second!.signature! }, ...images.slice(1)];
    assert.ok(await isRefused(hot, "import_key_images", { signed_key_images: swapped, offset }));
  }
  await hot("import_key_images", { signed_key_images, offset });
  return bigintOf(num_imported);
}

/** Signs what the hot wallet made and sends it; returns the transaction's id and the cold wallet's description of it. */
export async function signAndSend({ hot, cold }: Pair, made: ExactObject) {
  const unsigned_txset = String(made.unsigned_txset);
  await refusesChanges(cold, "sign_transfer", { field: "unsigned_txset", hex: unsigned_txset });
  await refusesChanges(cold, "describe_transfer", { field: "unsigned_txset", hex: unsigned_txset });
  const { summary } = await cold("describe_transfer", { unsigned_txset });
  const signed = await cold("sign_transfer", { unsigned_txset, get_tx_keys: true, export_raw: true });
  const tx_data_hex = String(signed.signed_txset);
  await refusesChanges(hot, "submit_transfer", { field: "tx_data_hex", hex: tx_data_hex });
  const { tx_hash_list } = await hot("submit_transfer", { tx_data_hex });
  assert.deepEqual(tx_hash_list, signed.tx_hash_list);
  const [txid] = listOf(tx_hash_list).map(String);
  const keys = listOf(signed.tx_key_list).map(String);
  assert.equal((await cold("get_tx_key", { txid: txid! })).tx_key, keys[0]);
  return { txid: txid!, key: keys[0]!, summary: summary as ExactObject };
}

export const sumOf = (summary: ExactObject) =>
  listOf(summary.recipients).reduce((sum, { amount }) => sum + bigintOf(amount), 0n);

export async function balances(wallets: readonly Ask[]): Promise<unknown[]> {
  for (const ask of wallets) await ask("refresh");
  return await Promise.all(
    wallets.map(async (ask) => {
      const { balance, unlocked_balance } = await ask("get_balance", { account_index: 0 });
      return { balance, unlocked_balance };
    }),
  );
}

export async function receivedBy(bob: WalletActor, txid: string): Promise<bigint> {
  await bob.refresh();
  const { transfers } = await bob.call("get_transfer_by_txid", { txid });
  return listOf(transfers).reduce((sum, { amount }) => sum + bigintOf(amount), 0n);
}
