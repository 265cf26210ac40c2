import assert from "node:assert/strict";
import { test } from "node:test";
import { outputs } from "../src/daemon/outputs.ts";
import { transactions } from "../src/daemon/transactions.ts";
import { accounts } from "../src/wallet/accounts.ts";
import { transfers } from "../src/wallet/transfers.ts";

const request = { of: "request" } as const;
const { transferSplit, sweepAll, sweepSingle, sweepDust } = transfers;

const relay = { idempotency_key: undefined, do_not_relay: false, get_tx_hex: false, get_tx_metadata: false };
const build = {
  account_index: 0,
  subaddr_indices: [],
  priority: 0,
  mixin: 0,
  ring_size: 0,
  unlock_time: 0n,
  payment_id: "",
};
const sweep = { ...build, ...relay, address: "", outputs: 1, below_amount: 0n, get_tx_keys: false };

// Source: wallet_rpc_server_commands_defs.h, `KV_SERIALIZE_OPT` of each call.
test("what a call that pays leaves out is what the original takes for it", () => {
  assert.deepEqual(transferSplit.params.read({ destinations: [] }, request), {
    ...build,
    ...relay,
    destinations: [],
    get_tx_keys: false,
    new_algorithm: false,
  });
  assert.deepEqual(sweepAll.params.read({}, request), { ...sweep, subaddr_indices_all: false });
  const { key_image, ...single } = sweepSingle.params.read({}, request);
  assert.deepEqual(single, { ...sweep, get_tx_key: false });
  assert.equal(key_image.length, 0);
  assert.deepEqual(sweepDust.params.read({}, request), { ...relay, get_tx_keys: false });
});

test("accounts are those of all tags, a tag is no pattern, and outputs come with their transactions' ids", () => {
  const { getAccounts } = accounts;
  assert.deepEqual(getAccounts.params.read({}, request), {
    tag: "",
    strict_balances: false,
    regexp: false,
  });
  assert.equal(outputs.getOutsBin.params.read({ outputs: [] }, request).get_txid, true);
});

// Source: core_rpc_server_commands_defs.h, `COMMAND_RPC_GET_TRANSACTIONS` and `COMMAND_RPC_SEND_RAW_TX`.
test("transactions are answered whole, as bytes alone, and one that is sent is checked and relayed", () => {
  const { getTransactions, sendRawTransaction } = transactions;
  assert.deepEqual(getTransactions.params.read({ txs_hashes: [] }, request), {
    txs_hashes: [],
    decode_as_json: false,
    prune: false,
    split: false,
  });
  const { do_not_relay, do_sanity_checks } = sendRawTransaction.params.read({ tx_as_hex: "" }, request);
  assert.deepEqual([do_not_relay, do_sanity_checks], [false, true]);
});
