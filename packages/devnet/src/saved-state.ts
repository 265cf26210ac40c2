import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Node, saveChain } from "@anulo/node";
import type { WalletService } from "@anulo/wallet";
import type { Clock } from "./clock.ts";
import type { SeededRandom } from "./random.ts";
import { allOrNone } from "./turns.ts";

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
    const wallets = await Promise.all(services.map(saveWallets));
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
  const whileUnchanged = services.reduceRight(
    (inside, { service }) =>
      () =>
        service.whileUnchanged(inside),
    save,
  );
  return whileUnchanged();
}

/** Open wallets hold a lock file, which stays as it is. */
const isSaved = (name: string): boolean => !name.endsWith(".lock");

async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && isSaved(entry.name)).map(({ name }) => name);
}

async function saveWallets({ service, folder }: ServedFolder): Promise<SavedWallets> {
  const names = await namesIn(folder);
  const files = await Promise.all(
    names.map(async (name) => [name, await readFile(join(folder, name))] as const),
  );
  const { openName } = service.unnamed;
  return { service, folder, files: new Map(files), openName: openName === "" ? undefined : openName };
}

/**
 * Closes all wallets, runs the task, restores their files, and opens those that were open: every step of all services at
 * once, since most of it is waiting for files.
 */
async function whileClosed(wallets: readonly SavedWallets[], task: () => Promise<void>): Promise<void> {
  let open = wallets.length;
  let begin = (): void => undefined;
  let fail = (_: unknown): void => undefined;
  const done = new Promise<void>((resolve, reject) => {
    begin = () => resolve(task());
    fail = reject;
  });
  if (open === 0) begin();
  const reopened = wallets.map(async ({ service, folder, files, openName }) => {
    const closedMeanwhile = service.whileClosed(async () => {
      open -= 1;
      if (open === 0) begin();
      await done;
      await restoreFolder(folder, files);
      return openName;
    });
    // Where one can't be closed, the others wait for it no longer.
    await closedMeanwhile.catch(fail);
    await closedMeanwhile;
  });
  await allOrNone([done, ...reopened]);
}

/** Writes what differs, and deletes what was not there. */
async function restoreFolder(folder: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  const added = (await namesIn(folder)).filter((name) => !files.has(name));
  await Promise.all(added.map((name) => rm(join(folder, name))));
  const restore = async (name: string, bytes: Buffer) => {
    const path = join(folder, name);
    const now = await readFile(path).catch(() => undefined);
    if (now === undefined || !now.equals(bytes)) await writeFile(path, bytes, { mode: 0o600 });
  };
  await Promise.all(Array.from(files, ([name, bytes]) => restore(name, bytes)));
}
