import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call } from "@anulo/devnet";
import { loadChain, type RecordedChain } from "../fixtures.ts";
import { loadBlocks } from "../load-chain.ts";
import type { Release } from "../programs/releases.ts";
import { type Maker, startDaemon } from "../programs/servers.ts";
import { until } from "../until.ts";

const SYNC_WITHIN_MS = 300_000;

/** Folders with the recorded chain, for ours and for the originals, to be copied for each node. */
export interface ChainFolders {
  readonly chain: RecordedChain;
  copy(kind: Maker["kind"]): string;
  remove(): void;
}

/** Ours verifies the chain; where originals are wanted, the first of their releases fetches it from ours. */
export async function createChainFolders({
  releases: [release],
}: {
  readonly releases: readonly Release[];
}): Promise<ChainFolders> {
  const folder = mkdtempSync(join(tmpdir(), "anulo-chains-"));
  const folders = { ours: join(folder, "ours"), real: join(folder, "real") };
  const chain = loadChain();
  const extra = ["--disable-rpc-ban"];
  const loading = await startDaemon({ kind: "ours" }, { dataDir: folders.ours, extra });
  await loadBlocks(loading.url, chain.blocks).finally(() => loading.stop());
  if (release !== undefined) await fetchFromOurs(folders, chain, release);
  let copies = 0;
  return {
    chain,
    copy(kind) {
      const path = join(folder, `copy-${copies++}`);
      cpSync(folders[kind], path, { recursive: true });
      return path;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function fetchFromOurs(
  folders: { ours: string; real: string },
  chain: RecordedChain,
  release: Release,
): Promise<void> {
  const donor = await startDaemon({ kind: "ours" }, { dataDir: folders.ours, peers: [] });
  try {
    const peers = [`127.0.0.1:${donor.p2pPort}`];
    const original = await startDaemon({ kind: "real", release }, { dataDir: folders.real, peers });
    try {
      const hasAll = async () => Number((await call(original.url, "get_info")).height) > chain.blocks.length;
      if (!(await until(hasAll, SYNC_WITHIN_MS))) throw new Error("monerod did not fetch the chain");
    } finally {
      await original.stop();
    }
  } finally {
    await donor.stop();
  }
}
