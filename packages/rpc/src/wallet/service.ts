import { costs } from "../costs.ts";
import { list, object, optional, or, zero } from "../schema/composites.ts";
import { flag, hash, int8, text, uint, uint32 } from "../schema/scalars.ts";
import { nothing, onOwnService, onOwnSpendKey, onOwnWallet, walletMethod } from "./fields.ts";

/** Scanning, the node behind the wallet, mining there, and the service itself. */
export const service = {
  setDaemon: walletMethod({
    name: "set_daemon",
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
      proxy: zero(text),
    }),
    result: nothing,
  }),
  refresh: walletMethod({
    name: "refresh",
    summary: "Scans the new blocks.",
    params: object({ start_height: or(uint, 0) }),
    result: object({ blocks_fetched: uint, received_money: flag }),
  }),
  autoRefresh: walletMethod({
    name: "auto_refresh",
    needs: onOwnService,
    summary: "Turns scanning on its own on or off; period in seconds.",
    params: object({ enable: or(flag, true), period: or(uint32, 0) }),
    result: nothing,
  }),
  scanTx: walletMethod({
    name: "scan_tx",
    needs: onOwnSpendKey,
    cost: costs.bulky,
    summary: "Scans single transactions.",
    params: object({ txids: zero(list(hash)) }),
    result: nothing,
  }),
  rescanSpent: walletMethod({
    name: "rescan_spent",
    needs: [...onOwnSpendKey, "trustedDaemon"],
    summary: "Asks the node again which outputs are spent.",
    params: nothing,
    result: nothing,
  }),
  rescanBlockchain: walletMethod({
    name: "rescan_blockchain",
    needs: onOwnSpendKey,
    summary: "Scans again from the start; what the chain does not hold is lost.",
    params: object({ hard: optional(flag) }),
    result: nothing,
  }),
  startMining: walletMethod({
    name: "start_mining",
    needs: [...onOwnWallet, "trustedDaemon"],
    summary: "Lets the node mine to this wallet.",
    params: object({
      threads_count: zero(uint),
      do_background_mining: zero(flag),
      ignore_battery: zero(flag),
    }),
    result: nothing,
  }),
  stopMining: walletMethod({
    name: "stop_mining",
    summary: "Stops mining in the node.",
    params: nothing,
    result: nothing,
  }),
  stopWallet: walletMethod({
    name: "stop_wallet",
    needs: onOwnService,
    summary: "Saves the wallet and stops the service.",
    params: nothing,
    result: nothing,
  }),
  setLogLevel: walletMethod({
    name: "set_log_level",
    needs: onOwnService,
    summary: "Sets how much is logged, 0 to 4.",
    params: object({ level: zero(int8) }),
    result: nothing,
  }),
  setLogCategories: walletMethod({
    name: "set_log_categories",
    needs: onOwnService,
    summary: "Sets what is logged, as category:level pairs.",
    params: object({ categories: zero(text) }),
    result: object({ categories: text }),
  }),
  getVersion: walletMethod({
    name: "get_version",
    reads: true,
    needs: [],
    summary: "Version of this interface: major times 65536 plus minor.",
    params: nothing,
    result: object({ release: flag, version: uint32 }),
  }),
};
