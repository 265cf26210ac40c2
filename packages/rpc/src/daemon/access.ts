import { costs } from "../costs.ts";
import { method } from "../define.ts";
import { list, object, or, zero } from "../schema/composites.ts";
import { flag, hash, hex, i64, text, u64, uint, uint32 } from "../schema/scalars.ts";
import { accessStatus, nodeStatus, noParams } from "./fields.ts";

const trackedCall = object({ count: uint, credits: uint, rpc: text, time: uint });

const client = object({
  balance: u64,
  client: text,
  credits_total: u64,
  credits_used: u64,
  last_update_time: uint,
  nonces_bad: uint,
  nonces_dupe: uint,
  nonces_good: uint,
  nonces_stale: uint,
});

/** Payment for access, which the original has dropped since; kept so that old callers get an answer. */
export const access = {
  rpcAccessInfo: method({
    name: "rpc_access_info",
    reads: true,
    summary: "What access costs.",
    params: object({ client: zero(text) }),
    result: object({
      cookie: uint32,
      credits_per_hash_found: uint,
      diff: u64,
      hashing_blob: hex,
      height: uint,
      next_seed_hash: hash,
      seed_hash: hash,
      seed_height: uint,
      ...accessStatus,
    }),
  }),
  rpcAccessSubmitNonce: method({
    name: "rpc_access_submit_nonce",
    summary: "Pays for access with a hash.",
    params: object({ client: zero(text), nonce: zero(uint32), cookie: zero(uint32) }),
    result: object(accessStatus),
  }),
  rpcAccessPay: method({
    name: "rpc_access_pay",
    summary: "Pays for a named call.",
    params: object({ client: zero(text), paying_for: zero(text), payment: zero(u64) }),
    result: object(accessStatus),
  }),
  rpcAccessTracking: method({
    name: "rpc_access_tracking",
    cost: costs.medium,
    access: "unrestricted",
    summary: "How often each call was made and how long it took.",
    params: object({ clear: zero(flag) }),
    result: object({ data: list(trackedCall), ...nodeStatus }),
  }),
  rpcAccessData: method({
    name: "rpc_access_data",
    cost: costs.medium,
    reads: true,
    access: "unrestricted",
    summary: "Clients that paid for access.",
    params: noParams,
    result: object({ entries: list(client), hashrate: uint32, ...nodeStatus }),
  }),
  rpcAccessAccount: method({
    name: "rpc_access_account",
    access: "unrestricted",
    summary: "Changes the credits of a client.",
    params: object({ client: zero(text), delta_balance: or(i64, 0n) }),
    result: object({ credits: u64, ...nodeStatus }),
  }),
};
