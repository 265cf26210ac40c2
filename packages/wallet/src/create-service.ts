import { randomBytes } from "node:crypto";
import { unreadLog } from "@anulo/rpc";
import { openAccess } from "./access/access.ts";
import { closeLedgerStore, openLedgerStore } from "./file/ledger-store.ts";
import { unlockFirst } from "./first-wallet.ts";
import { openFleet } from "./fleet/open-fleet.ts";
import { WalletRefusal } from "./refusal.ts";
import { walletResourceHandlers } from "./rpc/events.ts";
import { walletHandlers } from "./rpc/handlers.ts";
import { type ServiceParts, WalletService } from "./service.ts";
import { type OpenEvents, openServiceEvents, type ServiceEvents } from "./service-events.ts";
import type { WalletServiceOptions } from "./service-options.ts";

/**
 * Builds the service and starts it, with its first wallet open. Throws WalletRefusal if that wallet, the store of the
 * ledgers or the event log cannot be opened.
 */
export async function createWalletService(options: WalletServiceOptions): Promise<WalletService> {
  const parts = await openParts(options);
  const service = new WalletService(options, walletHandlers, { ...parts, resources: walletResourceHandlers });
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

async function openParts({
  store: where,
  fleet: address,
  eventLog,
  access: tokens,
  first,
  events: sink,
  runtime,
  network = "mainnet",
  kdfRounds = 1,
  restricted = false,
  log = unreadLog(),
}: WalletServiceOptions): Promise<ServiceParts> {
  const logger = log.in("wallet.wallet2");
  if (address !== undefined) {
    const others = first ?? sink ?? tokens;
    if (where === undefined || others !== undefined)
      throw new WalletRefusal(
        "UNKNOWN_ERROR",
        "A fleet needs a store, and goes with neither a first wallet nor tokens; its events are kept in that store",
      );
    const events = eventLog === undefined ? "" : ", events";
    const settings = `network ${network}, kdf-rounds ${kdfRounds}${events}`;
    return await openFleet(where, { settings, restricted, log: logger, eventLog });
  }
  const store = where && (await openLedgerStore(where, log));
  let events: OpenEvents | string | undefined;
  try {
    events = eventLog && (await openServiceEvents(eventLog, { store, log: logger }));
    if (typeof events === "string") logger.warn("events are not kept", { reason: events });
    const openEventLog = typeof events === "object" ? events.log : undefined;
    const { clock = systemSeconds, random = randomBytes } = runtime ?? {};
    const access = tokens && (await openAccess(tokens, { clock, random, events: openEventLog, log }));
    return { store, events: typeof events === "object" ? alone(events) : events, access };
  } catch (error) {
    if (typeof events === "object") await events.close();
    if (store !== undefined) await closeLedgerStore(store);
    throw error;
  }
}

/** The events of a service that shares its wallets with none. */
function alone(opened: OpenEvents): ServiceEvents {
  return { ...opened, opened, isAnswering: false };
}

const systemSeconds = (): number => Math.floor(Date.now() / 1000);
