/** The event log of a service, and its delivery. */

import { hkdfSync } from "node:crypto";
import { join } from "node:path";
import { wipe } from "@anulo/crypto";
import {
  type EventLog,
  EventLogInUse,
  EventLogRolledBack,
  hasEventLog,
  type NatsSink,
  openEventLog,
  openNatsSink,
  openWebhooks,
  type Webhooks,
} from "@anulo/events";
import type { MaybePromise } from "@anulo/limits";
import type { Logger } from "@anulo/rpc";
import { type Engine, openLmdbEngine, StoreUnavailable } from "@anulo/store";
import { remoteFileSystemOf } from "./file/file-system.ts";
import type { LedgerStore } from "./file/open-rows.ts";
import { readServiceKey } from "./file/service-key.ts";
import { WalletRefusal } from "./refusal.ts";

export type ServiceEventsOptions = {
  /** The service's folder; the log is stored there too, unless a store was named for the ledgers, which then holds it. */
  readonly folder: string;
  /** File with the 32-byte key that encrypts the log; `key` in the folder if left out. It is created if missing. */
  readonly keyFile?: string | undefined;
  /** URL of a NATS JetStream server to which every event is published. */
  readonly natsAddress?: string | undefined;
  /** Whether webhooks may be sent to addresses that are not public. */
  readonly allowsPrivateWebhooks?: boolean | undefined;
  /** Seconds after which an event is deleted; if left out, events are kept for ever. */
  readonly keepSeconds?: number | undefined;
  /** Whether to continue a log that is an older copy, under another name. */
  readonly acceptsOlder?: boolean | undefined;
};

/** The store of the ledgers, as far as the log may be in it. */
type LogPlace = Pick<LedgerStore, "engine" | "role">;

const KEY_PURPOSE = "anulo event log";

/** An open log with its deliveries. */
export type OpenEvents = {
  readonly log: EventLog;
  readonly webhooks: Webhooks;
  readonly sink: NatsSink | undefined;
  /** Waits until pending writes have ended, then closes the log. */
  close(): Promise<void>;
};

/** An event log that another process may have. */
export type ServiceLog = Pick<EventLog, "cursorOf" | "append" | "read" | "waitForEvent" | "ended">;

/** Webhooks that another process may deliver to. */
export type ServiceWebhooks = Pick<Webhooks, "add" | "remove" | "enable" | "deadLetters" | "replay"> & {
  list(): MaybePromise<ReturnType<Webhooks["list"]>>;
};

/** The event log of a service, and its webhooks. */
export type ServiceEvents = {
  readonly log: ServiceLog;
  readonly webhooks: ServiceWebhooks;
  /** Undefined while another process of the fleet has the log. */
  readonly opened: OpenEvents | undefined;
  /** Whether wallets whose events the log could not take may be opened again for that. */
  readonly isAnswering: boolean;
  close(): Promise<void>;
};

/** What decides which process of a fleet has the log. */
export type SharedEvents = {
  /** The fleet's id, 16 bytes. */
  readonly group: Uint8Array;
  /** Whether it is certainly this one. */
  readonly isSure: () => boolean;
};

/**
 * The database of the ledgers if the log is in it: in one that was named, but in the folder's own only where it has been
 * so far, so that a log is found where it is.
 */
async function sharedEngine(store: LogPlace | undefined): Promise<Engine | undefined> {
  if (store === undefined || store.role === undefined) return store?.engine;
  const hasLog = await hasEventLog(store.engine).catch((error: unknown) => {
    // On a full disk the store may not be there yet; then nothing is in it.
    if (error instanceof StoreUnavailable) return false;
    throw error;
  });
  return hasLog ? store.engine : undefined;
}

/**
 * Opens the log, in the database of the ledgers or in one of its own. Returns the reason why there is no log if another
 * service holds it. Throws `WalletRefusal`.
 */
export async function openServiceEvents(
  options: ServiceEventsOptions,
  {
    store,
    log: logger,
    shared: fleet,
  }: {
    readonly store: LogPlace | undefined;
    readonly log: Logger;
    readonly shared?: SharedEvents | undefined;
  },
): Promise<OpenEvents | string> {
  const shared = await sharedEngine(store);
  const { folder, keyFile = join(folder, "key") } = options;
  const secret = await readServiceKey(keyFile);
  const key = new Uint8Array(hkdfSync("sha256", secret, new Uint8Array(0), KEY_PURPOSE, 32));
  wipe(secret);
  const engine = shared ?? (await openOwnEngine(folder, logger));
  const closeEngine = async () => {
    if (engine !== shared) await engine.close();
  };
  try {
    return await openDeliveries(options, { engine, key, logger, fleet, closeEngine });
  } catch (error) {
    await closeEngine();
    if (error instanceof EventLogInUse)
      return `another service keeps the event log of this ${shared === undefined ? "folder" : "database"}`;
    if (error instanceof EventLogRolledBack)
      throw refuse(
        "the log is an older copy than this service has written, or it is in the --store that was named before: --accept-older-store goes on with what is here, under a new id",
      );
    throw refuse((error as Error).message);
  } finally {
    wipe(key);
  }
}

async function openOwnEngine(folder: string, logger: Logger): Promise<Engine> {
  try {
    const fileSystem = await remoteFileSystemOf(folder);
    if (fileSystem !== undefined)
      logger.warn("the event log is on a file system where it is not safe", { fileSystem, folder });
    return openLmdbEngine(join(folder, "events.mdb"));
  } catch (error) {
    throw refuse((error as Error).message);
  }
}

const refuse = (why: string) => new WalletRefusal("UNKNOWN_ERROR", `Events can't be kept: ${why}`);

async function openDeliveries(
  options: ServiceEventsOptions,
  parts: {
    readonly engine: Engine;
    readonly key: Uint8Array;
    readonly logger: Logger;
    readonly fleet: SharedEvents | undefined;
    readonly closeEngine: () => Promise<void>;
  },
): Promise<OpenEvents> {
  const { folder, natsAddress, allowsPrivateWebhooks = false, keepSeconds, acceptsOlder = false } = options;
  const { engine, key, logger, fleet, closeEngine } = parts;
  const log = await openEventLog({
    engine,
    key,
    folder,
    acceptRolledBack: acceptsOlder,
    ...fleet,
    ...(keepSeconds !== undefined && { keepSeconds }),
  });
  let isClosing = false;
  log.ended.addEventListener("abort", () => {
    const error = log.ended.reason;
    if (isClosing) return;
    if (fleet !== undefined) return logger.warn("this process has lost the fleet's event log", { error });
    logger.error("the event log has ended: no events are kept until the service is started again", { error });
  });
  const closing: { close(): Promise<void> }[] = [log];
  const close = async () => {
    isClosing = true;
    for (const part of closing.reverse()) await part.close();
    await closeEngine();
  };
  try {
    const webhooks = await openWebhooks({ log, allowsPrivate: allowsPrivateWebhooks });
    closing.push(webhooks);
    const sink = natsAddress === undefined ? undefined : await openSink(log, natsAddress);
    if (sink !== undefined) closing.push(sink);
    return { log, webhooks, sink, close };
  } catch (error) {
    isClosing = true;
    for (const part of closing.reverse()) await part.close();
    throw error;
  }
}

async function openSink(log: EventLog, address: string): Promise<NatsSink> {
  try {
    return await openNatsSink({ log, address });
  } catch (error) {
    if (error instanceof RangeError) throw refuse(`--events-to: ${error.message}`);
    throw error;
  }
}
