/** Scanning without the spend key. Declarations: @anulo/rpc wallet/background. */
import { wallet as declared, implementFor } from "@anulo/rpc";
import { connectDaemon } from "../daemon.ts";
import { type SyncType, syncTypes } from "../file/background-beside.ts";
import {
  type Replace,
  setupBackgroundSync,
  startBackgroundSync,
  stopBackgroundSync,
} from "../file/background-sync.ts";
import type { WalletSlot } from "../many/slots.ts";
import { wipeKeys } from "../multisig/account-keys.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";
import type { Wallet } from "../wallet.ts";
import { keysOfWords } from "./files.ts";

function syncTypeOf(text: string): SyncType {
  const type = syncTypes.find((name) => name === text);
  if (type === undefined) throw new WalletRefusal("UNKNOWN_ERROR", "Unknown background sync type");
  return type;
}

const replaceIn =
  (service: WalletSlot): Replace =>
  async (open) => {
    await service.replace(undefined);
    await service.replace(await open());
  };

/** The same node over another connection: closing a wallet closes its connection. */
function optionsFor(service: WalletSlot, { daemon }: Wallet) {
  const { address, isTrusted } = daemon;
  return { ...service.openOptions, daemon: connectDaemon(address, { trusted: isTrusted }) };
}

export const backgroundHandlers = implementFor<WalletContext>()(declared.background, {
  setupBackgroundSync: (params, { service, opened }) =>
    service.inTurn(opened, async () => {
      opened.wallet.signer.check("scanInBackground");
      const setup = {
        type: syncTypeOf(params.background_sync_type),
        password: params.wallet_password,
        backgroundPassword: params.background_cache_password,
      };
      await setupBackgroundSync(opened, setup, service.openOptions);
      return {};
    }),
  startBackgroundSync: (_, { service, opened }) =>
    service.inTurn(opened, async () => {
      opened.wallet.signer.check("scanInBackground");
      await startBackgroundSync(opened, optionsFor(service, opened.wallet), replaceIn(service));
      return {};
    }),
  stopBackgroundSync: ({ wallet_password: password, seed, seed_offset }, { service, opened }) =>
    service.inTurn(opened, async () => {
      opened.wallet.signer.check("scanInBackground");
      const keys = seed === "" ? undefined : keysOfWords(seed, seed_offset);
      try {
        const end = { password, spendSecret: keys?.spendSecret };
        await stopBackgroundSync(opened, end, optionsFor(service, opened.wallet), replaceIn(service));
      } finally {
        if (keys !== undefined) wipeKeys(keys);
      }
      return {};
    }),
});
