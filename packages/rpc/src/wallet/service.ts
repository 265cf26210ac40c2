import { costs } from "../costs.ts";
import { method } from "../define.ts";
import { list, object, optional, or, zero } from "../schema/composites.ts";
import { flag, hash, int8, text, uint, uint32 } from "../schema/scalars.ts";
import { nothing, onOpenWallet, onOwnWallet } from "./fields.ts";

/** Scanning, the node behind the wallet, mining there, and the service itself. */
export const service = {
  setDaemon: method({
    name: "set_daemon",
    needs: onOwnWallet,
    summary: "Chooses the node the wallet talks to.",
    params: object({
      address: zero(text),
      username: zero(text),
      password: zero(text),
      trusted: or(flag, false),
      ssl_support: or(text, "autodetect"),
      ssl_private_key_path: zero(text),
      ssl_certificate_path: zero(text),
      ssl_ca_file: zero(text),
      ssl_allowed_fingerprints: zero(list(text)),
      ssl_allow_any_cert: or(flag, false),
    }),
    result: nothing,
  }),
  refresh: method({
    name: "refresh",
    needs: onOwnWallet,
    summary: "Scans the new blocks.",
    params: object({ start_height: or(uint, 0) }),
    result: object({ blocks_fetched: uint, received_money: flag }),
  }),
  autoRefresh: method({
    name: "auto_refresh",
    needs: ["unrestrictedService"],
    summary: "Turns scanning on its own on or off; period in seconds.",
    params: object({ enable: or(flag, true), period: or(uint32, 0) }),
    result: nothing,
  }),
  scanTx: method({
    name: "scan_tx",
    cost: costs.bulky,
    needs: onOwnWallet,
    summary: "Scans single transactions.",
    params: object({ txids: zero(list(hash)) }),
    result: nothing,
  }),
  rescanSpent: method({
    name: "rescan_spent",
    needs: [...onOwnWallet, "trustedDaemon"],
    summary: "Asks the node again which outputs are spent.",
    params: nothing,
    result: nothing,
  }),
  rescanBlockchain: method({
    name: "rescan_blockchain",
    needs: onOwnWallet,
    summary: "Scans again from the start; what the chain does not hold is lost.",
    params: object({ hard: optional(flag) }),
    result: nothing,
  }),
  startMining: method({
    name: "start_mining",
    needs: [...onOpenWallet, "trustedDaemon"],
    summary: "Lets the node mine to this wallet.",
    params: object({
      threads_count: zero(uint),
      do_background_mining: zero(flag),
      ignore_battery: zero(flag),
    }),
    result: nothing,
  }),
  stopMining: method({
    name: "stop_mining",
    needs: onOpenWallet,
    summary: "Stops mining in the node.",
    params: nothing,
    result: nothing,
  }),
  stopWallet: method({
    name: "stop_wallet",
    needs: ["unrestrictedService"],
    summary: "Saves the wallet and stops the service.",
    params: nothing,
    result: nothing,
  }),
  setLogLevel: method({
    name: "set_log_level",
    needs: ["unrestrictedService"],
    summary: "Sets how much is logged, 0 to 4.",
    params: object({ level: zero(int8) }),
    result: nothing,
  }),
  setLogCategories: method({
    name: "set_log_categories",
    needs: ["unrestrictedService"],
    summary: "Sets what is logged, as category:level pairs.",
    params: object({ categories: zero(text) }),
    result: object({ categories: text }),
  }),
  getVersion: method({
    name: "get_version",
    reads: true,
    summary: "Version of this interface: major times 65536 plus minor.",
    params: nothing,
    result: object({ release: flag, version: uint32 }),
  }),
};
