import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface DiskCutsOptions {
  readonly service: "node" | "wallet";
  readonly cuts: number;
  readonly seed: string;
  /** Whether the wallets have journals rather than the folder's own store. */
  readonly hasJournals?: boolean | undefined;
  /** Told of how many cuts have been opened. */
  readonly onProgress?: (cuts: number) => void;
}

type Report = { readonly cuts: number } | { readonly done: number } | { readonly failed: string };

const program = fileURLToPath(new URL("./program.js", import.meta.url));

/**
 * Stops a service on a disk that forgets what was not synced, at moments of chance, and opens what is left: nothing
 * acknowledged may be lost. Resolves to the number of cuts; rejects at the first loss, and then keeps the folder.
 */
export async function runDiskCuts(options: DiskCutsOptions): Promise<number> {
  const { service, cuts, seed, hasJournals = false, onProgress = () => {} } = options;
  const folder = mkdtempSync(join(tmpdir(), "anulo-disk-"));
  const child = fork(program, [service, folder, seed, String(cuts)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: { ...process.env, ...(hasJournals && { ANULO_TEST_STORE: "journal" }) },
  });
  const opened = await new Promise<number>((resolve, reject) => {
    child.on("message", (report: Report) => {
      if ("cuts" in report) onProgress(report.cuts);
      else if ("done" in report) resolve(report.done);
      else reject(new Error(`${service}, seed ${seed}: ${report.failed}`));
    });
    child.on("exit", (code, signal) =>
      reject(new Error(`the ${service} ended by itself: ${code ?? signal}`)),
    );
  });
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  return opened;
}
