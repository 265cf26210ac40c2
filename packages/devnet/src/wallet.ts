import { call } from "./call.ts";
import type { DevnetKeys } from "./keys.ts";
import type { DevnetWallet } from "./options.ts";

/** A wallet whose service listens at a URL. */
export function devnetWallet(name: string, url: string, { address, mnemonic }: DevnetKeys): DevnetWallet {
  return {
    name,
    address,
    mnemonic,
    url,
    call: (method, params = {}) => call(url, method, params),
    balance: async () => {
      await call(url, "refresh");
      const { balance, unlocked_balance } = await call(url, "get_balance", { account_index: 0 });
      return { balance: BigInt(String(balance)), unlocked: BigInt(String(unlocked_balance)) };
    },
    pay: async (to, amount) => {
      await call(url, "refresh");
      const { tx_hash } = await call(url, "transfer", { destinations: [{ address: to, amount }] });
      return String(tx_hash);
    },
  };
}
