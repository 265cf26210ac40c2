import { openLedgerStore } from "./file/ledger-store.ts";
import { unlockFirst } from "./first-wallet.ts";
import { walletHandlers } from "./rpc/handlers.ts";
import { WalletService } from "./service.ts";
import type { WalletServiceOptions } from "./service-options.ts";

/** Builds the service and starts it, with its first wallet open. Throws WalletRefusal where that one, or the store of the ledgers, cannot be had. */
export async function createWalletService(options: WalletServiceOptions): Promise<WalletService> {
  const store = options.store && (await openLedgerStore(options.store));
  const service = new WalletService(options, walletHandlers, store);
  const { first } = options;
  try {
    if (first !== undefined) {
      const open = await unlockFirst(first, service.openOptions);
      const opening = service.unnamed.openFirst(open);
      await Promise.all([opening, service.start(opening)]);
    } else await service.start();
  } catch (error) {
    await service.stop();
    throw error;
  }
  return service;
}
