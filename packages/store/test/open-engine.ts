import { type Engine, openLmdbEngine } from "../src/index.ts";

/** The engine at a file's path or a database's address. */
export async function openEngine(where: string): Promise<Engine> {
  return openLmdbEngine(where);
}
