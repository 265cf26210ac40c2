import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { BadSource, type ChainSource } from "./chain-source.ts";
import { openMonerodSource } from "./monerod-source.ts";
import { openRawSource } from "./raw-source.ts";
import { openSource } from "./source-bytes.ts";

/**
 * The folder of a network's chain inside monerod's data folder. Source: core.cpp `init`,
 * `CRYPTONOTE_BLOCKCHAINDATA_FILENAME`.
 */
const folderOfNetwork: { readonly [network: string]: string } = {
  mainnet: "",
  testnet: "testnet",
  stagenet: "stagenet",
  regtest: "fake",
};

/** The database of a network in a monerod's data folder; undefined if there is none. */
export function findMonerodDatabase(folder: string, network: string): string | undefined {
  const path = join(folder, folderOfNetwork[network] ?? "", "lmdb", "data.mdb");
  return existsSync(path) ? path : undefined;
}

/**
 * The process that has an LMDB database open, if the system shows the holder of its lock. Source: mdb.c
 * `mdb_env_setup_locks`, which locks the file beside it for as long as it is open; proc(5) `/proc/locks`.
 */
function holderOf(database: string): number | undefined {
  try {
    const { dev, ino } = statSync(join(dirname(database), "lock.mdb"), { bigint: true });
    const major = ((dev >> 8n) & 0xfffn).toString(16).padStart(2, "0");
    const minor = ((dev & 0xffn) | ((dev >> 12n) & 0xfff00n)).toString(16).padStart(2, "0");
    const name = `${major}:${minor}:${ino}`;
    const locks = readFileSync("/proc/locks", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .find((fields) => fields.includes(name));
    const processId = Number(locks?.at(locks.indexOf(name) - 1));
    return Number.isSafeInteger(processId) ? processId : undefined;
  } catch {
    return undefined;
  }
}

const LMDB_MAGIC = 0xbeefc0de;

function isLmdb(path: string): boolean {
  const file = openSource(path);
  try {
    return file.size() >= 20 && file.read(16, 4).readUInt32LE() === LMDB_MAGIC;
  } finally {
    file.close();
  }
}

/** The file that a path refers to: in a monerod's data folder, in its `lmdb` folder, or the file itself. */
function fileAt(path: string, network: string): string {
  if (!existsSync(path)) throw new BadSource(path, "there is none");
  if (!statSync(path).isDirectory()) return path;
  const inside = join(path, "data.mdb");
  const own = join(path, "lmdb", "data.mdb");
  const file = findMonerodDatabase(path, network) ?? [inside, own].find((candidate) => existsSync(candidate));
  if (file === undefined) throw new BadSource(path, `no folder of a monerod with the chain of ${network}`);
  return file;
}

/**
 * Opens the chain of a monerod's folder, or of a `blockchain.raw`. Throws BadSource, also if a monerod has its database
 * open: what we read would be overwritten, because we take no lock in another program's folder.
 */
export function openChainSource(path: string, network: string): ChainSource {
  const file = fileAt(path, network);
  if (!isLmdb(file)) return openRawSource(file);
  const holder = holderOf(file);
  if (holder !== undefined) throw new BadSource(file, `process ${holder} has it open: stop monerod first`);
  return openMonerodSource(file);
}
