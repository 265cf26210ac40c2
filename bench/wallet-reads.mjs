// Requests per second of wallet reads over 16 keep-alive connections, on a wallet of 1,501 outputs and 901 entries.
import { methodRequest, requestRate } from "./load.mjs";
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
    const best = { native: { rate: 0, cpu: 0 }, ours: { rate: 0, cpu: 0 } };
    for (let round = 0; round < rounds; round++) {
      for (const side of ["native", "ours"]) {
        const { pid, port } = wallets[side];
        const measured = await requestRate({ pid, port, requests: [request] });
        if (measured.rate > best[side].rate) best[side] = measured;
      }
    }
    const { native, ours } = best;
    rows.push({ name, unit: "requests/s", ours: ours.rate, native: native.rate, atLeast });
    rows.push({ name: "  processor time", unit: "µs/request", ours: ours.cpu, native: native.cpu });
  }
  return rows;
}
