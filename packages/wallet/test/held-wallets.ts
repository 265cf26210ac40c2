/** Open wallets of a service without files: what is opened, closed and refreshed is only counted. */
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { unreadLog } from "@anulo/rpc";
import type { OpenWallet } from "../src/file/open-wallet.ts";
import type { UnlockedKeys } from "../src/file/unlock-keys.ts";
import { type WalletPaths, walletPaths } from "../src/file/wallet-files.ts";
import type { Common } from "../src/many/common.ts";
import { type FiledEntry, type KeptOpen, OpenWallets } from "../src/many/open-wallets.ts";
import type { Refresher } from "../src/many/refresher.ts";
import type { SlotParts } from "../src/many/slots.ts";
import type { WalletEntry } from "../src/many/wallet-entry.ts";
import type { WalletServiceOptions } from "../src/service-options.ts";

const FOLDER = join("/", "nowhere");
export const pathsOf = (name: string): WalletPaths => walletPaths(FOLDER, name);

export type Held = OpenWallet & { isClosed: boolean; isBroken: boolean; untold: boolean };

/** A wallet that is open, as far as those who hold it can tell; `calls`: what is done with it. */
export function heldWallet(paths: WalletPaths | undefined, calls: string[] = []): Held {
  const name = paths === undefined ? "" : paths.base.slice(FOLDER.length + 1);
  const held = {
    paths,
    isClosed: false,
    untold: false,
    background: { main: undefined, beside: undefined },
    locks: { handOn: () => ({ release: async () => void calls.push(`released ${name}`) }) },
    isUntold: () => held.untold,
    wallet: {
      unwritten: undefined,
      daemon: { close: () => void calls.push(`left the node ${name}`) },
      endScans: ({ message }: Error) => void calls.push(`ended scans ${name}: ${message}`),
      flush: async () => void calls.push(`flushed ${name}`),
      whileUnchanged: async <T>(task: () => Promise<T>): Promise<T> => {
        calls.push(`held ${name}`);
        const result = await task();
        calls.push(`freed ${name}`);
        return result;
      },
    },
    close: async () => {
      held.isClosed = true;
      calls.push(`closed ${name}`);
    },
  };
  return held as unknown as Held;
}

class HeldWallets extends OpenWallets {
  readonly calls: string[];
  /** Of each opening on demand: whether a call waits for it. */
  readonly openings: boolean[] = [];
  /** Error of the next opening. */
  failure: Error | undefined;

  constructor(common: Common, calls: string[], fleet: KeptOpen | undefined) {
    super(common, fleet);
    this.calls = calls;
  }

  override async unlock(
    { paths }: FiledEntry,
    { password, isOpen }: { readonly password: string; readonly isOpen: boolean },
  ): Promise<UnlockedKeys | undefined> {
    this.calls.push(`${isOpen ? "checked" : "unlocked"} ${paths.base.slice(FOLDER.length + 1)} ${password}`);
    return isOpen ? undefined : ({ paths } as UnlockedKeys);
  }

  override async openUnlocked(entry: FiledEntry): Promise<void> {
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
    await this.put(entry, heldWallet(entry.paths, this.calls));
  }

  override async openOnDemand(
    entry: FiledEntry,
    { isCalled }: { readonly isCalled: boolean },
  ): Promise<void> {
    this.openings.push(isCalled);
    if (entry.opened === undefined) {
      await this.makeRoom();
      await this.put(entry, heldWallet(entry.paths, this.calls));
    }
    await super.openOnDemand(entry, { isCalled });
  }

  override async create(entry: WalletEntry): Promise<void> {
    await this.put(entry, heldWallet(entry.paths, this.calls));
  }
}

/** What slots are made of; `now`: the time in milliseconds; `plans`: refreshes, as they are planned. */
export function createHeldWallets(options: Partial<WalletServiceOptions> = {}, fleet?: KeptOpen) {
  const clock = { now: 1_000_000 };
  const calls: string[] = [];
  const plans: [string, number, boolean][] = [];
  const confirmed: string[] = [];
  const common = {
    options: { walletDirectory: FOLDER, clock: () => clock.now, ...options },
    log: unreadLog(),
    confirmHere: (name: string) => void confirmed.push(name),
  } as unknown as Common;
  const wallets = new HeldWallets(common, calls, fleet);
  const refresher = {
    plan: ({ paths }: WalletEntry, period: number, isNow: boolean) =>
      void plans.push([paths === undefined ? "" : paths.base.slice(FOLDER.length + 1), period, isNow]),
    refresh: async ({ paths }: WalletEntry) => {
      await setTimeout(20);
      calls.push(`refreshed ${paths?.base.slice(FOLDER.length + 1)}`);
    },
  } as unknown as Refresher;
  const parts: SlotParts = { common, wallets, refresher };
  /** What was done since the last call. */
  const take = () => calls.splice(0);
  return { parts, wallets, clock, plans, confirmed, take };
}
