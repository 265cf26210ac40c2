import { object, zero } from "../schema/composites.ts";
import { text } from "../schema/scalars.ts";
import { nothing, walletMethod } from "./fields.ts";

/** Scanning without the spend key. */
export const background = {
  setupBackgroundSync: walletMethod({
    name: "setup_background_sync",
    scope: "admin",
    summary:
      "Chooses how the wallet scans without its spend key: off, reuse-wallet-password or custom-background-password.",
    params: object({
      background_sync_type: zero(text),
      wallet_password: zero(text),
      background_cache_password: zero(text),
    }),
    result: nothing,
  }),
  startBackgroundSync: walletMethod({
    name: "start_background_sync",
    scope: "admin",
    summary: "Forgets the spend key and scans without it.",
    params: nothing,
    result: nothing,
  }),
  stopBackgroundSync: walletMethod({
    name: "stop_background_sync",
    scope: "admin",
    summary:
      "Takes the spend key back, from the wallet's file or its seed, and settles what was found without it.",
    params: object({ wallet_password: zero(text), seed: zero(text), seed_offset: zero(text) }),
    result: nothing,
  }),
};
