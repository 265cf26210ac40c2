/** The database of a fleet, in memory, with its clock in the test's hand. */
import { Expelled, StoreUnavailable, type WalletLease, type WalletLeases } from "@anulo/store";
import { LIFETIME_MS } from "../src/fleet/membership.ts";

/** What the database keeps, by a clock of its own; `isAway`: nobody reaches it. */
export class Database {
  nowMs = 0;
  isAway = false;
  /** What a query of the members fails with. */
  stateError: Error | undefined;
  #ids = 0;
  readonly processes = new Map<string, { address: string; expires: number }>();
  readonly leases = new Map<string, string | undefined>();
  readonly keptOpen = new Set<string>();

  #reach(): void {
    if (this.isAway) throw new StoreUnavailable("away", { mayPass: true });
  }

  #member(process: string): void {
    this.#reach();
    if (!this.processes.has(process)) throw new Expelled("gone");
  }

  #remove(process: string): void {
    this.processes.delete(process);
    for (const [name, owner] of this.leases) if (owner === process) this.leases.set(name, undefined);
  }

  #leaseOf(name: string): WalletLease {
    return { name, isKeptOpen: this.keptOpen.has(name) };
  }

  open(): WalletLeases {
    const expires = () => this.nowMs + LIFETIME_MS;
    return {
      join: async (address) => {
        this.#reach();
        const process = `p${++this.#ids}`;
        this.processes.set(process, { address, expires: expires() });
        return process;
      },
      renew: async (process) => {
        this.#member(process);
        this.processes.get(process)!.expires = expires();
      },
      state: async () => {
        this.#reach();
        if (this.stateError !== undefined) throw this.stateError;
        const owned = (process: string) =>
          [...this.leases.values()].filter((owner) => owner === process).length;
        const members = [...this.processes].map(([process, { address, expires }]) => ({
          process,
          address,
          owned: owned(process),
          silentMs: this.nowMs + LIFETIME_MS - expires,
        }));
        return { members, free: [...this.leases.values()].filter((owner) => owner === undefined).length };
      },
      expel: async (gone = []) => {
        this.#reach();
        const over = [...this.processes].filter(
          ([process, { expires }]) => expires <= this.nowMs + (gone.includes(process) ? LIFETIME_MS / 2 : 0),
        );
        for (const [process] of over) this.#remove(process);
        return over.length;
      },
      take: async (process, name) => {
        this.#member(process);
        const owner = this.leases.get(name) ?? process;
        this.leases.set(name, owner);
        return { owner, isKeptOpen: owner === process && this.keptOpen.has(name) };
      },
      confirm: async (process, name) => {
        this.#member(process);
        if (this.leases.get(name) !== process) throw new Expelled("another's");
      },
      adopt: async (process, most, others = []) => {
        this.#member(process);
        const free = [...this.leases].flatMap(([name, owner]) => (owner === undefined ? [name] : []));
        const names = free.filter((name) => !others.includes(name)).slice(0, most);
        for (const name of names) this.leases.set(name, process);
        return names.map((name) => this.#leaseOf(name));
      },
      heldBy: async (process) => {
        this.#reach();
        return [...this.leases].flatMap(([name, owner]) => (owner === process ? [this.#leaseOf(name)] : []));
      },
      setKeptOpen: async (process, name, isKeptOpen) => {
        this.#member(process);
        if (this.leases.get(name) !== process) throw new Expelled("another's");
        if (isKeptOpen) this.keptOpen.add(name);
        else this.keptOpen.delete(name);
      },
      handOver: async (process, name) => {
        this.#reach();
        if (this.leases.get(name) === process) this.leases.set(name, undefined);
      },
      release: async (process, name) => {
        this.#reach();
        if (this.leases.get(name) !== process) return;
        this.leases.delete(name);
        this.keptOpen.delete(name);
      },
      ownerOf: async (name) => this.leases.get(name),
      leave: async (process) => this.#remove(process),
      close: async () => undefined,
    };
  }
}
