// Requests per second of wallet reads over 16 keep-alive connections, on a wallet of 1,501 outputs and 901 entries.
import { bestRates, methodRequest, rateRows } from "./load.mjs";
import { stage } from "./wallets.mjs";

const rounds = 2;

/** Name, what is asked, and how many times as often as the original it must be answered. */
const cases = [
  ["get_balance", methodRequest("get_balance", { account_index: 0 }), 10],
  ["get_address", methodRequest("get_address", { account_index: 0 }), 10],
  ["get_transfers, in and out", methodRequest("get_transfers", { in: true, out: true }), 4],
  ["incoming_transfers, all", methodRequest("incoming_transfers", { transfer_type: "all" }), 4],
];

export async function measure() {
  const { wallets } = await stage();
  const rows = [];
  for (const [name, request, atLeast] of cases) {
    rows.push(...rateRows(name, await bestRates(wallets, [request], rounds), { rate: { atLeast } }));
  }
  return rows;
}
