import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryEngine, type Engine, openLmdbEngine, rangeOf, type WalletId } from "../src/index.ts";

/** A database for a test, which several engines may have open. */
export interface Harness {
  /** Opens it, as another process would; for the memory engine the one there is. */
  open(): Promise<Engine>;
  /** A folder outside it. */
  readonly folder: string;
  stop(): Promise<void>;
}

/** A temporary folder, and what removes it. */
export function temporaryFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "anulo-store-"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export async function memoryHarness(): Promise<Harness> {
  const { folder, remove } = temporaryFolder();
  const engine = createMemoryEngine();
  return { open: async () => engine, folder, stop: async () => remove() };
}

export async function lmdbHarness(): Promise<Harness> {
  const { folder, remove } = temporaryFolder();
  const opened: Engine[] = [];
  return {
    async open() {
      const engine = openLmdbEngine(join(folder, "engine", "store.mdb"));
      opened.push(engine);
      return engine;
    },
    folder: join(folder, "beside"),
    async stop() {
      for (const engine of opened) await engine.close();
      remove();
    },
  };
}

export const walletId = (number: number): WalletId => {
  const id = Buffer.alloc(16);
  id.writeUInt32BE(number, 12);
  return id;
};

export const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
export const text = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value).toString();

export async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

/** Keys of a table as text. */
export async function keysOf(engine: Engine, wallet: WalletId, table: number): Promise<string[]> {
  return (await collect(rangeOf(engine, wallet, { table }))).map(({ key }) => text(key)!);
}
