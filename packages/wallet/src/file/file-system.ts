/** On what kind of file system a folder is. */
import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * Linux's numbers of file systems whose files other machines may change, or whose locks and mapped files may not be
 * those of a local disk. Source: statfs(2); linux/magic.h.
 */
const remote: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x65735546, "FUSE"],
  [0x01021997, "9P"],
  [0x00c36400, "Ceph"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x73757245, "Coda"],
  [0x0bd00bd0, "Lustre"],
  [0x01161970, "GFS2"],
  [0x7461636f, "OCFS2"],
  [0x19830326, "BeeGFS"],
  [0x47504653, "GPFS"],
]);

/**
 * The kind of file system a path is on, or will be, if a database of one machine must not be there; otherwise undefined,
 * and where it can't be known: elsewhere than on Linux only paths of network drives are told.
 */
export async function remoteFileSystemOf(
  path: string,
  typeOf: (folder: string) => Promise<number> = async (folder) => (await statfs(folder)).type,
): Promise<string | undefined> {
  let folder = resolve(path);
  if (process.platform === "win32" && folder.startsWith("\\\\")) return "a network drive";
  if (process.platform !== "linux") return undefined;
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  // A number of 32 bits, which some systems return with a sign.
  return remote.get((await typeOf(folder)) >>> 0);
}
