/** A wallet with everything in it that a cache can hold. */
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { call, type ExactObject, type RunningDaemon } from "@anulo/testkit";
import { listOf, mine, type WalletActor } from "../actors.ts";

export type Ask = (method: string, params?: ExactObject) => Promise<ExactObject>;
/** Calls of the service at this URL. */
export const asking =
  (url: string): Ask =>
  (method, params = {}) =>
    call(url, method, params);

/** Everything a cache can hold that is not in the chain; returns transactions, a frozen output, a waiting payment. */
export async function makeHistory(then: Ask, bob: WalletActor, daemon: RunningDaemon) {
  const { address: second } = await then("create_account", { label: "savings" });
  await then("create_address", { account_index: 0, label: "shop" });
  await then("tag_accounts", { tag: "mine", accounts: [1] });
  await then("set_account_tag_description", { tag: "mine", description: "for later" });
  await then("set_attribute", { key: "a key", value: "a välue" });
  const { integrated_address } = await bob.call("make_integrated_address", {
    payment_id: "0123456789abcdef",
  });
  const { address: subaddress } = await bob.call("create_address", { account_index: 0 });
  await then("add_address_book", { address: bob.address, description: "Bob" });
  await then("add_address_book", { address: String(integrated_address), description: "Bob's shop" });
  const pay = async (...to: readonly unknown[]) => {
    const destinations = to.map((each) => ({ address: String(each), amount: coin }));
    return String((await then("transfer", { destinations })).tx_hash);
  };
  const txids = [await pay(integrated_address), await pay(bob.address, subaddress, second)];
  await mine(daemon, 12, bob.address);
  await then("refresh");
  const swept = await then("sweep_all", { account_index: 1, address: bob.address });
  txids.push(...listOf(swept.tx_hash_list).map(String));
  await mine(daemon, 3, bob.address);
  await then("refresh");
  const { transfers } = await then("incoming_transfers", { transfer_type: "available" });
  const key_image = String(listOf(transfers)[0]!.key_image);
  await then("freeze", { key_image });
  await then("set_tx_notes", { txids: txids.slice(0, 2), notes: ["rent", "Ünïcode"] });
  const waiting = await pay(bob.address);
  return { txids, key_image, waiting, pay };
}
