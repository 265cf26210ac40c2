import { call, type ExactObject } from "@anulo/testkit";

/** Opens a wallet from its seed in a service and scans the chain; returns its address. */
export async function restore(url: string, name: string, seed: string): Promise<string> {
  const { address } = await call(url, "restore_deterministic_wallet", {
    filename: name,
    password: "",
    seed,
    restore_height: 0,
    language: "English",
  });
  await call(url, "refresh");
  return String(address);
}

/** Mines blocks to an address. */
export function mine(nodeUrl: string, blocks: number, address: string): Promise<ExactObject> {
  return call(nodeUrl, "generateblocks", { amount_of_blocks: blocks, wallet_address: address });
}

/** Scans what is new and pays atomic units; returns the transaction id. */
export async function pay(url: string, address: string, amount: bigint): Promise<string> {
  await call(url, "refresh");
  const { tx_hash } = await call(url, "transfer", { destinations: [{ address, amount }] });
  return String(tx_hash);
}
