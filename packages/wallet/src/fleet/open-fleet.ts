/** Opens the store that the processes of a fleet share. */
import { createHmac } from "node:crypto";
import { Passes } from "@anulo/rpc";
import { type Engine, openPostgresEngine, openWalletLeases } from "@anulo/store";
import { folderId } from "../file/folder-id.ts";
import type { LedgerStoreOptions } from "../file/ledger-store.ts";
import type { LedgerStore } from "../file/open-rows.ts";
import { readServiceKey } from "../file/service-key.ts";
import { WalletRefusal } from "../refusal.ts";
import { openServiceEvents, type ServiceEvents, type ServiceEventsOptions } from "../service-events.ts";
import { Fleet, type FleetParts } from "./fleet.ts";
import { LIFETIME_MS } from "./membership.ts";

/** Milliseconds that a stopped process may hold rows of a wallet: less than its membership lasts. */
const IDLE_MS = 2000;
const ID_BYTES = 16;

const refuse = (why: string) => new WalletRefusal("UNKNOWN_ERROR", `The fleet can't be joined: ${why}`);

export type OpenFleetOptions = Pick<FleetParts, "settings" | "restricted" | "log"> & {
  /** If left out, no events are kept. */
  readonly eventLog?: ServiceEventsOptions | undefined;
};

/** Opens the store of a fleet's wallets, and the fleet. Throws `WalletRefusal`. */
export async function openFleet(
  { location, folder, serviceKeyFile, acceptsOlder = false }: LedgerStoreOptions,
  { settings, restricted, log, eventLog }: OpenFleetOptions,
): Promise<{
  readonly store: LedgerStore;
  readonly fleet: Fleet;
  readonly events: ServiceEvents | undefined;
}> {
  if (!/^postgres(?:ql)?:\/\//.test(location)) throw refuse("its store has to be PostgreSQL");
  if (serviceKeyFile === undefined) throw refuse("it needs a service's key");
  const serviceKey = await readServiceKey(serviceKeyFile);
  const of = await folderId(folder).catch((error: Error) => {
    throw refuse(error.message);
  });
  const derive = (purpose: string) => createHmac("sha256", serviceKey).update(purpose).update(of).digest();
  const id = derive("anulo fleet").subarray(0, ID_BYTES);
  try {
    const engine = await openPostgresEngine(location, { idleMs: IDLE_MS });
    const leases = await openWalletLeases(location, { fleet: id, lifetimeMs: LIFETIME_MS }).catch(
      async (error: unknown) => {
        await engine.close();
        throw error;
      },
    );
    const passes = new Passes(derive("anulo passes of a fleet"));
    const openEvents =
      eventLog &&
      ((under: Engine, isSure: () => boolean) =>
        openServiceEvents(eventLog, { store: { engine: under }, log, shared: { group: id, isSure } }));
    const fleet = new Fleet({ id, folder, engine, leases, passes, settings, restricted, log, openEvents });
    const store = { engine, folder, serviceKey, acceptsOlder, shared: fleet.shared };
    return { store, fleet, events: fleet.events };
  } catch {
    // The error is not passed on, since the address of a database may contain a password.
    throw refuse("the database does not answer");
  }
}
