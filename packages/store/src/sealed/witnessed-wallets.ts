/** The wallets that services with a folder beside the store have opened. */
import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Engine, WalletId } from "../engine.ts";
import { removedRow } from "./data-key.ts";
import { Witness } from "./witness.ts";

const WITNESS_FILE = /^([0-9a-f]{32})\.witness$/;

export interface WitnessedWallet {
  readonly wallet: WalletId;
  /** When a service with this folder has written the wallet last, in milliseconds since 1970. */
  readonly writtenAt: number;
  /**
   * `here` if no other service has opened it since, `elsewhere` if one has, or may have; `removing` if its removal was
   * interrupted.
   */
  readonly state: "here" | "elsewhere" | "removing";
}

/** Lists the wallets of a store of which `folder` has a witness. Throws the errors of the engine. */
export async function* witnessedWallets(engine: Engine, folder: string): AsyncGenerator<WitnessedWallet> {
  for await (const { name } of await opendir(folder)) {
    const id = WITNESS_FILE.exec(name)?.[1];
    if (id === undefined) continue;
    const entry = await witnessedWallet(engine, folder, Buffer.from(id, "hex"));
    if (entry !== undefined) yield entry;
  }
}

/** One of these wallets; undefined if the store or the folder does not know it. */
export async function witnessedWallet(
  engine: Engine,
  folder: string,
  wallet: WalletId,
): Promise<WitnessedWallet | undefined> {
  const path = join(folder, `${Buffer.from(wallet).toString("hex")}.witness`);
  const file = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  const mark = await engine.markOf(wallet);
  if (file === undefined || mark === undefined) return undefined;
  const isRemoved = (await engine.read(wallet, removedRow)) !== undefined;
  // Every opening has its own epoch, and its folder has that on disk before the wallet is used.
  const isHere = new Witness(path).read()?.epoch === mark.epoch;
  const state = isHere ? "here" : "elsewhere";
  return { wallet, writtenAt: file.mtimeMs, state: isRemoved ? "removing" : state };
}
