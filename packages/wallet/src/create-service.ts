import { unlockFirst } from "./first-wallet.ts";
import { walletHandlers } from "./rpc/handlers.ts";
import { WalletService, type WalletServiceOptions } from "./service.ts";

/** Builds the service and starts it, with its first wallet open. Throws WalletRefusal where that one cannot be had. */
export async function createWalletService(options: WalletServiceOptions): Promise<WalletService> {
  const service = new WalletService(options, walletHandlers);
  const { first } = options;
  try {
    if (first !== undefined) {
      const open = await unlockFirst(first, service.openOptions);
      const opening = service.inTurn(async () => service.replace(await open()));
      await Promise.all([opening, service.start(opening)]);
    } else await service.start();
  } catch (error) {
    await service.stop();
    throw error;
  }
  return service;
}
