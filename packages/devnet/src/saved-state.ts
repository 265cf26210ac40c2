import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Node, saveChain } from "@anulo/node";
import type { WalletService } from "@anulo/wallet";
import type { Clock } from "./clock.ts";
import type { SeededRandom } from "./random.ts";
import { within } from "./turns.ts";

/** A wallet service with the folder of its wallets, which is its alone. */
export type ServedFolder = { readonly service: WalletService; readonly folder: string };

export type SavedParts = {
  readonly node: Node;
  readonly services: readonly ServedFolder[];
  readonly clock: Clock;
  readonly random: SeededRandom;
};

/** A state of all programs of a devnet. */
export type SavedState = {
  /** Returns to the state, as often as wanted; what callers have under way fails. */
  restore(): Promise<void>;
  /** Frees what it takes; it can't be restored any more. */
  drop(): Promise<void>;
};

type SavedWallets = ServedFolder & {
  readonly files: ReadonlyMap<string, Buffer>;
  /** The wallet that was open on the path without name. */
  readonly openName: string | undefined;
};

/** Saves chain, pool, wallets with their files, time, and what blocks will be made of. */
export function saveState({ node, services, clock, random }: SavedParts): Promise<SavedState> {
  const save = async (): Promise<SavedState> => {
    const chain = await saveChain(node.chain);
    const wallets = services.map(saveWallets);
    const [shift, position] = [clock.shift, random.position];
    return {
      restore: () =>
        whileClosed(wallets, async () => {
          await chain.restore();
          clock.shift = shift;
          random.position = position;
        }),
      drop: async () => chain.close(),
    };
  };
  return within(
    services.map(
      ({ service }) =>
        (task) =>
          service.whileUnchanged(task),
    ),
    save,
  );
}

/** Open wallets hold a lock file, which stays as it is. */
const isSaved = (name: string): boolean => !name.endsWith(".lock");

// Files of some kilobytes: waiting for each beside the event loop takes ten times as long as reading it.
function namesIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && isSaved(entry.name)).map(({ name }) => name);
}

function saveWallets({ service, folder }: ServedFolder): SavedWallets {
  const files = new Map(namesIn(folder).map((name) => [name, readFileSync(join(folder, name))]));
  const { openName } = service.unnamed;
  return { service, folder, files, openName: openName === "" ? undefined : openName };
}

/** Closes all wallets, runs the task, restores their files, and opens those that were open. */
function whileClosed(wallets: readonly SavedWallets[], task: () => Promise<void>): Promise<void> {
  return within(
    wallets.map(
      ({ service, folder, files, openName }) =>
        (closedTask) =>
          service.whileClosed(async () => {
            await closedTask();
            restoreFolder(folder, files);
            return openName;
          }),
    ),
    task,
  );
}

/** Writes what differs, and deletes what was not there. */
function restoreFolder(folder: string, files: ReadonlyMap<string, Buffer>): void {
  const names = new Set(namesIn(folder));
  for (const name of names) if (!files.has(name)) rmSync(join(folder, name));
  for (const [name, bytes] of files) {
    const path = join(folder, name);
    if (!names.has(name) || !readFileSync(path).equals(bytes)) writeFileSync(path, bytes, { mode: 0o600 });
  }
}
